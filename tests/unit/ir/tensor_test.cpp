// Tensors that lie anywhere in a file.
#include "ir/tensor.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <thread>

namespace fusescope::test {
namespace {

/// Three floats behind one byte, as a file may hold them.
struct Unaligned {
  std::shared_ptr<std::array<std::byte, 64>> memory = std::make_shared<std::array<std::byte, 64>>();
  Tensor tensor;

  Unaligned() {
    const std::array<float, 3> numbers = {1.5F, -2, 3e-40F};
    const auto start = reinterpret_cast<std::uintptr_t>(memory->data());
    std::byte* odd = memory->data() + (start % 2 == 0 ? 1 : 0);
    std::memcpy(odd, numbers.data(), sizeof numbers);
    tensor = Tensor::view(DataType::F32, {3}, memory, odd);
  }
};

bool isAligned(const void* at) {
  return reinterpret_cast<std::uintptr_t>(at) % alignof(float) == 0;
}

std::vector<float> numbersOf(const Tensor& tensor) {
  const auto data = tensor.data<float>();
  return {data.begin(), data.end()};
}

TEST(Tensor, ElementsOfAnUnalignedViewAreReadFromACopy) {
  const Unaligned file;
  EXPECT_FALSE(isAligned(file.tensor.bytes()));
  EXPECT_TRUE(isAligned(file.tensor.data<float>().data()));
  EXPECT_EQ(numbersOf(file.tensor), (std::vector<float>{1.5F, -2, 3e-40F}));
  EXPECT_EQ(file.tensor.asDouble(1), -2);
  EXPECT_FALSE(isAligned(file.tensor.bytes())) << "what is in the file stays what is hashed, written and released";
}

TEST(Tensor, CopiesOfAnUnalignedViewShareItsCopy) {
  const Unaligned file;
  const Tensor copy = file.tensor, shaped = file.tensor.reshaped({1, 3});
  const float* first = nullptr;
  std::jthread other([&] { first = copy.data<float>().data(); });
  const float* second = shaped.data<float>().data();
  other.join();
  EXPECT_EQ(first, second);
}

TEST(Tensor, AlignedIsTheSameOrACopyOfItsOwn) {
  const Unaligned file;
  const Tensor copy = file.tensor.aligned();
  EXPECT_TRUE(isAligned(copy.bytes()));
  EXPECT_TRUE(copy.identical(file.tensor));
  EXPECT_NE(copy.bytes(), static_cast<const void*>(file.tensor.data<float>().data()));
  EXPECT_EQ(copy.aligned().bytes(), copy.bytes());
  const Tensor second = Tensor::view(DataType::F32, {2}, std::make_shared<Tensor>(copy), copy.bytes() + sizeof(float));
  EXPECT_EQ(second.aligned().bytes(), second.bytes()) << "its elements can be read where they are";
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(second.aligned(16).bytes()) % 16, 0U);
  EXPECT_EQ(second.aligned(16).asDouble(0), -2);
}

TEST(ElementCount, IsOfWhatAMachineCouldHold) {
  const std::int64_t large = std::int64_t{1} << 40;
  EXPECT_EQ(elementCount({}), 1);
  EXPECT_EQ(elementCount({3, 0, 5}), 0);
  EXPECT_EQ(elementCount({large, 1 << 7}), large << 7);
  EXPECT_EQ(elementCount({large, 1 << 8}), std::nullopt);
  EXPECT_EQ(elementCount({large, large, large, large}), std::nullopt) << "the product wraps to 0";
  EXPECT_EQ(elementCount({0, large, large}), std::nullopt) << "parts of it are counted, too";
  EXPECT_EQ(elementCount({large, large, 0}), std::nullopt) << "in any order";
  EXPECT_EQ(elementCount({2, -1}), std::nullopt);
  EXPECT_LT(byteSize(DataType::C128, large << 7), std::size_t{1} << 52) << "so that bytes can be counted";
}

}  // namespace
}  // namespace fusescope::test
