// Formats as values: what they say of memory, how they are written, and that oneDNN means the same by them.
#include <gtest/gtest.h>

#include <cstring>

#include "backends/memory_format.h"
#include "backends/native/native_backend.h"
#include "tests/unit/backends_native/tactic_testing.h"

namespace fusescope::testing {
namespace {

MemoryFormat format(std::string_view text) {
  const auto parsed = MemoryFormat::parse(text);
  EXPECT_TRUE(parsed.has_value()) << text;
  return parsed.value_or(MemoryFormat());
}

TEST(MemoryFormat, IsReadBackFromItsText) {
  for (const char* text : {"plain", "nhwc", "nChw16c", "nChw8c", "nwc", "ndhwc", "nCdhw16c", "ba", "AB16b64a",
                           "NChw8c16n2c", "nhwc^64c", "chwn"}) {
    EXPECT_EQ(format(text).text(), text);
    EXPECT_EQ(MemoryFormat::parse(format(text).text()), format(text));
  }
  for (const char* text : {"", "nhwx", "nhw", "nchw16c", "nChw", "nChw16", "nChw0c", "nnhw", "16c", "nhwc^"})
    EXPECT_EQ(MemoryFormat::parse(text), std::nullopt) << text;
}

TEST(MemoryFormat, RowMajorIsOneValueOfAnyRank) {
  for (const char* text : {"plain", "nchw", "ncw", "ncdhw", "abcd", "ab", "abcdef"}) {
    EXPECT_EQ(format(text), MemoryFormat()) << text;
    EXPECT_TRUE(format(text).isPlain());
  }
  EXPECT_EQ(format("nhwc"), MemoryFormat::channelsLast(4));
  EXPECT_EQ(format("acdb"), MemoryFormat::channelsLast(4)) << "letters of images are but letters";
  EXPECT_EQ(format("ABcd8b16a2b"), format("NChw8c16n2c"));
  EXPECT_EQ(format("nChw16c"), MemoryFormat::blockedChannels(4, 16));
  EXPECT_NE(format("nChw16c"), format("nChw8c"));
}

TEST(MemoryFormat, SaysExtentsAndStridesInMemory) {
  const Dims dims{2, 20, 3, 5};
  EXPECT_EQ(format("nChw16c").padded(dims), (Dims{2, 32, 3, 5}));
  EXPECT_EQ(format("nChw16c").memoryExtents(dims), (Dims{2, 2, 3, 5, 16}));
  EXPECT_EQ(format("nhwc").memoryExtents(dims), (Dims{2, 3, 5, 20}));
  EXPECT_EQ(format("nhwc^8c").memoryExtents(dims), (Dims{2, 3, 5, 24}));
  EXPECT_EQ(format("ABcd8b16a2b").memoryExtents({16, 32, 3, 3}), (Dims{1, 2, 3, 3, 8, 16, 2}));
  EXPECT_EQ(format("ABcd8b16a2b").memoryStrides({288, 9, 3, 1}), (Dims{4608, 144, 3, 1, 18, 288, 9}));
  EXPECT_EQ((TensorDesc{DataType::F32, dims, format("nChw16c")}).bytes(), 2U * 32 * 3 * 5 * 4);
}

TEST(MemoryFormat, FormerWordsAreKnown) {
  EXPECT_EQ(formerWord(MemoryFormat()), "plain");
  EXPECT_EQ(formerWord(format("nhwc")), "channels_last");
  EXPECT_EQ(formerWord(format("nCdhw8c")), "blocked8");
  EXPECT_EQ(formerWord(format("nChw16c")), "blocked16");
  EXPECT_EQ(formerWord(format("chwn")), "chwn");
  const Tactic tactic{.name = "onednn:conv:plain>nChw16c:jit",
                      .parameters = {{"source", MemoryFormat()}, {"target", format("nChw16c")}}};
  EXPECT_TRUE(tactic.isCalled("onednn:conv:plain>nChw16c:jit"));
  EXPECT_TRUE(tactic.isCalled("onednn:conv:plain>blocked16:jit"));
  EXPECT_FALSE(tactic.isCalled("onednn:conv:plain>blocked8:jit"));
}

/// The element at each place of memory, as the format says: the order in which the axes' own numbers come.
std::vector<float> inMemory(const Tensor& tensor, const MemoryFormat& format) {
  Dims strides(tensor.dims().size(), 1);
  for (std::size_t i = strides.size(); i-- > 1;) strides[i - 1] = strides[i] * tensor.dims()[i];
  const Dims extents = format.memoryExtents(tensor.dims()), steps = format.memoryStrides(strides);
  std::vector<float> elements;
  Dims at(extents.size(), 0);
  while (true) {
    std::int64_t from = 0;
    for (std::size_t i = 0; i < at.size(); ++i) from += at[i] * steps[i];
    elements.push_back(tensor.data<float>()[static_cast<std::size_t>(from)]);
    std::size_t axis = at.size();
    while (axis > 0 && ++at[axis - 1] == extents[axis - 1]) at[--axis] = 0;
    if (axis == 0) return elements;
  }
}

TEST(MemoryFormat, OneDnnMeansTheSame) {
  for (const auto& [text, dims] :
       {std::pair("nhwc", Dims{2, 16, 3, 5}), std::pair("nChw16c", Dims{2, 32, 3, 5}),
        std::pair("nChw4c", Dims{1, 8, 3, 5}), std::pair("nCdhw8c", Dims{2, 16, 2, 3, 5}),
        std::pair("nwc", Dims{2, 6, 7}), std::pair("acb", Dims{2, 6, 7}), std::pair("ba", Dims{6, 7}),
        std::pair("ABcd8b16a2b", Dims{32, 32, 3, 2}), std::pair("chwn", Dims{2, 3, 4, 5})}) {
    const Tensor tensor = randomTensor(DataType::F32, dims, 7);
    const TensorDesc plain{DataType::F32, dims}, other{DataType::F32, dims, format(text)};
    const auto code = nativeBackend().compileConversion(plain, other, 2);
    ASSERT_TRUE(code.ok()) << text << ": " << code.error().text();
    const std::vector<float> expected = inMemory(tensor, format(text));
    ASSERT_EQ(expected.size() * sizeof(float), other.bytes()) << text;
    std::vector<float> converted(expected.size());
    std::vector<std::byte> workspace(code.value()->workspaceBytes() + 64);
    const std::byte* from = tensor.bytes();
    auto* to = reinterpret_cast<std::byte*>(converted.data());
    ASSERT_TRUE(code.value()->run(hostStream(), std::span(&from, 1), std::span(&to, 1), {}, workspace.data()).ok())
        << text;
    EXPECT_EQ(converted, expected) << text;
  }
  const TensorDesc odd{DataType::F32, {2, 6, 7, 8}, format("nhwc^64c")};
  EXPECT_FALSE(nativeBackend().compileConversion({DataType::F32, odd.dims}, odd, 2).ok()) << "oneDNN has no tag for it";
}

/// Where an element of these coordinates lies: channels may be in blocks.
std::size_t placeOf(const Dims& at, const Dims& dims, const MemoryFormat& format) {
  const std::int64_t block = format.isPlain() ? 1 : format.blockOf(1);
  std::size_t place = 0;
  for (std::size_t i = 0; i < at.size(); ++i) {
    const std::size_t axis = format.isPlain() ? i : format.order()[i], size = axis == 1 ? block : 1;
    place =
        place * static_cast<std::size_t>((dims[axis] + size - 1) / size) + static_cast<std::size_t>(at[axis]) / size;
  }
  return place * static_cast<std::size_t>(block) + static_cast<std::size_t>(at[1] % block);
}

std::vector<MemoryFormat> usualFormats(std::size_t rank) {
  return {MemoryFormat(), MemoryFormat::channelsLast(rank), MemoryFormat::blockedChannels(rank, 8),
          MemoryFormat::blockedChannels(rank, 16)};
}

using Bits = std::vector<std::uint16_t>;

/// Numbers from 1, one for each element, and 0 where no element lies.
Bits numbered(const TensorDesc& desc) {
  Bits bits(desc.bytes() / 2, 0);
  Dims at(desc.dims.size(), 0);
  for (std::uint16_t number = 1;; ++number) {
    bits[placeOf(at, desc.dims, desc.format)] = number;
    std::size_t axis = at.size();
    while (axis > 0 && ++at[axis - 1] == desc.dims[axis - 1]) at[--axis] = 0;
    if (axis == 0) return bits;
  }
}

// The numbers are bits of subnormal, normal and infinite floats and of NaN alike: all must stay what they are.
TEST(MemoryFormat, NarrowFloatsAreMovedBitByBit) {
  const std::vector<Dims> extents = {{2, 20, 5, 7}, {1, 16, 8, 8},    {3, 33, 16},
                                     {1, 3, 9, 9},  {2, 40, 2, 3, 5}, {1, 64, 1, 1}};
  int cases = 0;
  for (const DataType type : {DataType::BF16, DataType::F16})
    for (const Dims& dims : extents)
      for (const MemoryFormat& from : usualFormats(dims.size()))
        for (const MemoryFormat& to : usualFormats(dims.size())) {
          if (from == to) continue;
          const TensorDesc source{type, dims, from}, target{type, dims, to};
          SCOPED_TRACE(toText(dims) + " " + from.text() + " to " + to.text());
          const auto code = nativeBackend().compileConversion(source, target, 2);
          ASSERT_TRUE(code.ok()) << code.error().text();
          const Bits given = numbered(source);
          Bits made(target.bytes() / 2, 0xabcd);
          std::vector<std::byte> workspace(code.value()->workspaceBytes() + 64);
          const auto* read = reinterpret_cast<const std::byte*>(given.data());
          auto* written = reinterpret_cast<std::byte*>(made.data());
          ASSERT_TRUE(
              code.value()->run(hostStream(), std::span(&read, 1), std::span(&written, 1), {}, workspace.data()).ok());
          EXPECT_EQ(made, numbered(target));
          ++cases;
        }
  EXPECT_EQ(cases, 2 * 6 * 12);
}

}  // namespace
}  // namespace fusescope::testing
