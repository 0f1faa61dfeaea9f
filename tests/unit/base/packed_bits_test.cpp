#include "base/packed_bits.h"

#include <gtest/gtest.h>

#include <vector>

namespace fusescope {
namespace {

using Bytes = std::vector<std::byte>;

Bytes packed(const std::vector<unsigned>& values, int bits) {
  Bytes bytes((values.size() * static_cast<std::size_t>(bits) + 7) / 8);
  for (std::size_t i = 0; i < values.size(); ++i)
    writePacked(bytes.data(), static_cast<std::int64_t>(i), bits, values[i]);
  return bytes;
}

TEST(PackedBits, LeastSignificantFirst) {
  EXPECT_EQ(packed({2, 1, 0, 3, 1}, 2), (Bytes{std::byte{0b11'00'01'10}, std::byte{0b01}}));
  EXPECT_EQ(packed({0x1, 0xf, 0x5}, 4), (Bytes{std::byte{0xf1}, std::byte{0x05}}));
  EXPECT_EQ(packed({0x12, 0xfe}, 8), (Bytes{std::byte{0x12}, std::byte{0xfe}}));
}

TEST(PackedBits, SixBitsStraddleBytes) {
  const Bytes bytes = packed({0b001000, 0b111111, 0b000001, 0b100000}, 6);
  EXPECT_EQ(bytes, (Bytes{std::byte{0b11'001000}, std::byte{0b0001'1111}, std::byte{0b100000'00}}));
  EXPECT_EQ(readPacked(bytes.data(), 0, 6), 0b001000U);
  EXPECT_EQ(readPacked(bytes.data(), 1, 6), 0b111111U);
  EXPECT_EQ(readPacked(bytes.data(), 2, 6), 0b000001U);
  EXPECT_EQ(readPacked(bytes.data(), 3, 6), 0b100000U);
}

TEST(PackedBits, BitsAboveTheElementAreLeftOut) {
  EXPECT_EQ(packed({0xffffffffU, 0}, 4), (Bytes{std::byte{0x0f}}));
  EXPECT_EQ(packed({0, 0xffffffc0U, 0}, 6), Bytes(3));
}

/// Every value written to every place between set or cleared neighbours, in memory that ends with the last element.
TEST(PackedBits, NeighboursStayAsTheyWere) {
  constexpr std::int64_t kCount = 8;
  for (const int bits : {2, 4, 6, 8}) {
    const unsigned all = (1U << bits) - 1;
    for (const unsigned around : {0U, all}) {
      for (std::int64_t place = 0; place < kCount; ++place) {
        for (unsigned value = 0; value <= all; ++value) {
          Bytes bytes = packed(std::vector<unsigned>(kCount, around), bits);
          writePacked(bytes.data(), place, bits, value);
          for (std::int64_t i = 0; i < kCount; ++i)
            ASSERT_EQ(readPacked(bytes.data(), i, bits), i == place ? value : around) << bits << " bits, place " << i;
        }
      }
    }
  }
}

TEST(PackedBits, TheLastElementTouchesNothingBehindIt) {
  Bytes bytes(3, std::byte{0xff});
  writePacked(bytes.data(), 1, 6, 0);  // bits 6 to 11
  EXPECT_EQ(bytes, (Bytes{std::byte{0x3f}, std::byte{0xf0}, std::byte{0xff}}));
  writePacked(bytes.data(), 3, 4, 0);  // the high half of the second byte
  EXPECT_EQ(bytes, (Bytes{std::byte{0x3f}, std::byte{0x00}, std::byte{0xff}}));
}

}  // namespace
}  // namespace fusescope
