// The float types of a byte and less, code by code. Tables: https://onnx.ai/onnx/technical/float8.html, float4.html,
// and the OCP microscaling formats.
#include <gtest/gtest.h>

#include <cmath>

#include "base/float_bits.h"

namespace fusescope {
namespace {

TEST(SmallFloats, TheSixteenCodesOfFloat4) {
  const float values[] = {0.0F, 0.5F, 1.0F, 1.5F, 2.0F, 3.0F, 4.0F, 6.0F};
  for (unsigned code = 0; code < 8; ++code) {
    EXPECT_EQ(fromSmallFloatBits(DataType::F4E2M1, static_cast<std::uint8_t>(code)), values[code]);
    EXPECT_EQ(fromSmallFloatBits(DataType::F4E2M1, static_cast<std::uint8_t>(code | 8U)), -values[code]);
  }
  EXPECT_TRUE(std::signbit(fromSmallFloatBits(DataType::F4E2M1, 8)));
}

TEST(SmallFloats, Float4RoundsToEvenAndSaturates) {
  EXPECT_EQ(toSmallFloatBits(DataType::F4E2M1, 0.25F), 0x0);  // a tie: 0 is even
  EXPECT_EQ(toSmallFloatBits(DataType::F4E2M1, 0.75F), 0x2);  // a tie: 1.0 is even
  EXPECT_EQ(toSmallFloatBits(DataType::F4E2M1, 2.5F), 0x4);   // a tie: 2.0 is even
  EXPECT_EQ(toSmallFloatBits(DataType::F4E2M1, 5.0F), 0x6);   // a tie: 4.0 is even
  EXPECT_EQ(toSmallFloatBits(DataType::F4E2M1, 5.1F), 0x7);
  EXPECT_EQ(toSmallFloatBits(DataType::F4E2M1, 1e30F), 0x7);
  EXPECT_EQ(toSmallFloatBits(DataType::F4E2M1, -INFINITY, false), 0xf);
  EXPECT_EQ(toSmallFloatBits(DataType::F4E2M1, -0.0F), 0x8);
  EXPECT_EQ(toSmallFloatBits(DataType::F4E2M1, NAN), 0x8);
}

TEST(SmallFloats, TheEndsOfFloat6) {
  EXPECT_EQ(fromSmallFloatBits(DataType::F6E2M3, 0x01), 0.125F);
  EXPECT_EQ(fromSmallFloatBits(DataType::F6E2M3, 0x1f), 7.5F);
  EXPECT_EQ(fromSmallFloatBits(DataType::F6E2M3, 0x28), -1.0F);
  EXPECT_EQ(fromSmallFloatBits(DataType::F6E3M2, 0x01), 0.0625F);
  EXPECT_EQ(fromSmallFloatBits(DataType::F6E3M2, 0x1f), 28.0F);
  EXPECT_EQ(toSmallFloatBits(DataType::F6E3M2, 100.0F), 0x1f);
  EXPECT_EQ(toSmallFloatBits(DataType::F6E2M3, -1.0625F), 0x28);  // a tie
}

TEST(SmallFloats, Float8BeyondTheRange) {
  EXPECT_EQ(toSmallFloatBits(DataType::F8E4M3, 464.0F, false), 0x7e);  // a tie between 448 and what would be 480
  EXPECT_EQ(toSmallFloatBits(DataType::F8E4M3, 465.0F, false), 0x7f);
  EXPECT_EQ(toSmallFloatBits(DataType::F8E4M3, -465.0F, false), 0xff);
  EXPECT_EQ(toSmallFloatBits(DataType::F8E4M3, INFINITY), 0x7e);
  EXPECT_EQ(toSmallFloatBits(DataType::F8E5M2, 61440.0F), 0x7b);
  EXPECT_EQ(toSmallFloatBits(DataType::F8E5M2, -61440.0F, false), 0xfc);
  EXPECT_EQ(toSmallFloatBits(DataType::F8E5M2, INFINITY), 0x7b);
  EXPECT_EQ(toSmallFloatBits(DataType::F8E4M3FNUZ, 1000.0F), 0x7f);
  EXPECT_EQ(toSmallFloatBits(DataType::F8E4M3FNUZ, 1000.0F, false), 0x80);
  EXPECT_EQ(toSmallFloatBits(DataType::F8E4M3FNUZ, -0.0F), 0x00);
  EXPECT_EQ(toSmallFloatBits(DataType::F8E5M2FNUZ, -INFINITY), 0xff);
  EXPECT_EQ(toSmallFloatBits(DataType::F8E5M2FNUZ, NAN), 0x80);
}

TEST(SmallFloats, EveryCodeComesBack) {
  for (const DataType type : {DataType::F8E4M3, DataType::F8E5M2, DataType::F8E4M3FNUZ, DataType::F8E5M2FNUZ,
                              DataType::F6E2M3, DataType::F6E3M2, DataType::F4E2M1}) {
    for (unsigned code = 0; code < 1U << bitWidth(type); ++code) {
      const auto bits = static_cast<std::uint8_t>(code);
      const float value = fromSmallFloatBits(type, bits);
      if (std::isnan(value))
        EXPECT_TRUE(std::isnan(fromSmallFloatBits(type, toSmallFloatBits(type, value)))) << name(type) << ' ' << code;
      else
        EXPECT_EQ(toSmallFloatBits(type, value, false), bits) << name(type);
    }
  }
}

TEST(SmallFloats, ScalesArePowersOfTwo) {
  EXPECT_EQ(fromSmallFloatBits(DataType::F8E8M0, 0x7f), 1.0F);
  EXPECT_EQ(fromSmallFloatBits(DataType::F8E8M0, 0x80), 2.0F);
  EXPECT_EQ(fromSmallFloatBits(DataType::F8E8M0, 0x00), std::ldexp(1.0F, -127));
  EXPECT_EQ(fromSmallFloatBits(DataType::F8E8M0, 0xfe), std::ldexp(1.0F, 127));
  EXPECT_TRUE(std::isnan(fromSmallFloatBits(DataType::F8E8M0, 0xff)));
  for (unsigned code = 0; code < 0xff; ++code) {
    const auto bits = static_cast<std::uint8_t>(code);
    EXPECT_EQ(toScaleBits(fromSmallFloatBits(DataType::F8E8M0, bits)), bits);
    EXPECT_EQ(toScaleBits(fromSmallFloatBits(DataType::F8E8M0, bits), ScaleRounding::Nearest, false), bits);
  }
}

TEST(SmallFloats, ScalesRoundAsAsked) {
  using enum ScaleRounding;
  EXPECT_EQ(toScaleBits(1.1F, Up), 0x80);
  EXPECT_EQ(toScaleBits(1.9F, Down), 0x7f);
  EXPECT_EQ(toScaleBits(1.49F, Nearest), 0x7f);
  EXPECT_EQ(toScaleBits(1.5F, Nearest), 0x80);  // a tie goes up
  EXPECT_EQ(toScaleBits(3e38F, Up), 0xfe);
  EXPECT_EQ(toScaleBits(3e38F, Up, false), 0xff);
  EXPECT_EQ(toScaleBits(3e38F, Down, false), 0xfe);
  EXPECT_EQ(toScaleBits(0.0F), 0x00);
  EXPECT_EQ(toScaleBits(0.0F, Nearest, false), 0xff);
  EXPECT_EQ(toScaleBits(INFINITY), 0xfe);
  EXPECT_EQ(toScaleBits(INFINITY, Nearest, false), 0xff);
  EXPECT_EQ(toScaleBits(NAN), 0xff);
  EXPECT_EQ(toScaleBits(-2.0F), 0xff);
}

}  // namespace
}  // namespace fusescope
