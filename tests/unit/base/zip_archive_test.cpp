#include "base/zip_archive.h"

#include <gtest/gtest.h>

#include "tests/support/pt2_files.h"

namespace fusescope::test {
namespace {

std::span<const std::byte> bytesIn(const std::string& text) {
  return std::as_bytes(std::span(text));
}

std::string textOf(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

TEST(ZipInMemory, StoredEntriesAreReadWhereTheyLie) {
  const std::string archive = zipBytes({{.name = "a", .content = "first"},
                                        {.name = "b/packed", .content = "second", .deflated = true},
                                        {.name = "b/empty", .content = ""},
                                        {.name = "c", .content = std::string(70'000, 'c'), .deflated = true}});
  const auto reader = ZipReader::of(bytesIn(archive));
  ASSERT_TRUE(reader.ok()) << reader.error().text();
  ASSERT_EQ(reader.value().entries().size(), 4U);
  const auto first = reader.value().inPlace(0);
  ASSERT_TRUE(first.has_value());
  EXPECT_EQ(textOf(*first), "first");
  EXPECT_GE(first->data(), bytesIn(archive).data());
  EXPECT_LT(first->data(), bytesIn(archive).data() + archive.size());
  EXPECT_FALSE(reader.value().inPlace(1).has_value()) << "it is compressed";
  EXPECT_EQ(textOf(reader.value().bytes(1, 100).value()), "second");
  EXPECT_EQ(reader.value().inPlace(2)->size(), 0U);
  EXPECT_EQ(reader.value().bytes(3, 100'000).value().size(), 70'000U);
  EXPECT_FALSE(reader.value().inPlace(4).has_value());
}

TEST(ZipInMemory, ACommentBehindTheDirectoryIsPassedOver) {
  std::string archive = zipBytes({{.name = "a", .content = "first"}});
  archive[archive.size() - 2] = 7;
  archive += "comment";
  const std::vector<ZipPlace> places = zipPlaces(bytesIn(archive));
  ASSERT_EQ(places.size(), 1U);
  EXPECT_TRUE(places[0].isStored);
  EXPECT_EQ(archive.substr(places[0].offset, places[0].bytes), "first");
}

/// Whatever is cut off, no place reaches beyond the bytes that there are.
TEST(ZipInMemory, PlacesAreWithinTheArchive) {
  const std::string whole = zipBytes({{.name = "a", .content = "first"}, {.name = "b", .content = "second"}});
  const auto check = [](std::span<const std::byte> archive) {
    for (const ZipPlace& place : zipPlaces(archive))
      EXPECT_TRUE(!place.isStored || place.offset + place.bytes <= archive.size());
  };
  for (std::size_t length = 0; length <= whole.size(); ++length) check(bytesIn(whole).first(length));
  for (std::size_t at = 0; at < whole.size(); ++at)
    for (const int value : {0, 1, 0x7f, 0xff}) {
      std::string damaged = whole;
      damaged[at] = static_cast<char>(value);
      check(bytesIn(damaged));
    }
}

/// An archive of 64 bits, as PyTorch writes it for large members: sizes and places stand in extra fields.
TEST(ZipInMemory, NumbersOf64BitsAreRead) {
  const auto little = [](std::uint64_t number, int bytes) {
    std::string text;
    for (int i = 0; i < bytes; ++i) text += static_cast<char>(number >> (8 * i));
    return text;
  };
  const std::string large = little(0xffffffff, 4);
  const std::string local = little(0x04034b50, 4) + std::string(22, '\0') + little(1, 2) + little(0, 2) + "a" + "first";
  const std::string directory = little(0x02014b50, 4) + std::string(16, '\0') + large + large + little(1, 2) +
                                little(28, 2) + little(0, 2) + std::string(8, '\0') + large + "a" + little(1, 2) +
                                little(24, 2) + little(5, 8) + little(5, 8) + little(0, 8);
  const std::string end64 = little(0x06064b50, 4) + little(44, 8) + std::string(12, '\0') + little(1, 8) +
                            little(1, 8) + little(directory.size(), 8) + little(local.size(), 8);
  const std::string locator =
      little(0x07064b50, 4) + little(0, 4) + little(local.size() + directory.size(), 8) + little(1, 4);
  const std::string end = little(0x06054b50, 4) + std::string(4, '\0') + little(0xffff, 2) + little(0xffff, 2) + large +
                          large + little(0, 2);
  const std::string archive = local + directory + end64 + locator + end;
  const std::vector<ZipPlace> places = zipPlaces(bytesIn(archive));
  ASSERT_EQ(places.size(), 1U);
  EXPECT_EQ(places[0].name, "a");
  EXPECT_TRUE(places[0].isStored);
  EXPECT_EQ(archive.substr(places[0].offset, places[0].bytes), "first");
}

}  // namespace
}  // namespace fusescope::test
