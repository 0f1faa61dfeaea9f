#include "interchange/codes.h"

#include <gtest/gtest.h>

#include "interchange/npz.h"

namespace fusescope {
namespace {

TEST(Codes, PackedElementsStandAByteEach) {
  const Tensor four =
      Tensor::copyOf<float>(DataType::F32, {3}, std::vector<float>{0.5F, -6, 3}).converted(DataType::F4E2M1);
  const Tensor codes = codesOf(four);
  EXPECT_EQ(codes.type(), DataType::U8);
  EXPECT_EQ(int64Values(codes), (std::vector<std::int64_t>{0x1, 0xf, 0x5}));
  EXPECT_TRUE(fromCodes(codes, DataType::F4E2M1).identical(four));
  const Tensor two = Tensor::ofInt64({-2, 1, 0, -1, 1}).converted(DataType::I2);
  EXPECT_EQ(int64Values(codesOf(two)), (std::vector<std::int64_t>{2, 1, 0, 3, 1}));
  EXPECT_TRUE(fromCodes(codesOf(two), DataType::I2).identical(two));
}

TEST(Codes, OtherTypesStayAsTheyAre) {
  const Tensor bytes = Tensor::ofInt64({1, 2}).converted(DataType::U8);
  EXPECT_EQ(fromCodes(bytes, DataType::I32).type(), DataType::U8);
  EXPECT_EQ(fromCodes(bytes, DataType::F8E8M0).type(), DataType::F8E8M0);
  EXPECT_EQ(fromCodes(Tensor::scalar(1), DataType::F8E8M0).type(), DataType::F32);
}

TEST(Codes, AnArchiveHoldsThem) {
  const Tensor six =
      Tensor::copyOf<float>(DataType::F32, {2}, std::vector<float>{-7.5F, 1}).converted(DataType::F6E2M3);
  const auto bytes = npyBytes(six, "a");
  ASSERT_TRUE(bytes.ok()) << bytes.error().text();
  const auto read = parseNpy(std::as_bytes(std::span(bytes.value())), "f", "a");
  ASSERT_TRUE(read.ok()) << read.error().text();
  EXPECT_EQ(int64Values(read.value()), (std::vector<std::int64_t>{0x3f, 0x08}));
}

}  // namespace
}  // namespace fusescope
