#include "base/quantities.h"

#include <gtest/gtest.h>

namespace fusescope {
namespace {

TEST(Quantities, TimesHaveThreeDigitsAndTheUnitThatFits) {
  EXPECT_EQ(inTime(0), "0 ms");
  EXPECT_EQ(inTime(0.0000314), "31.4 ns");
  EXPECT_EQ(inTime(0.0007), "0.700 µs");
  EXPECT_EQ(inTime(0.0852), "85.2 µs");
  EXPECT_EQ(inTime(0.25), "0.250 ms");
  EXPECT_EQ(inTime(1.25), "1.25 ms");
  EXPECT_EQ(inTime(9.999), "10.0 ms");
  EXPECT_EQ(inTime(123.4), "123 ms");
  EXPECT_EQ(inTime(1530), "1.53 s");
  EXPECT_EQ(inTime(1'234'567), "1235 s");
  EXPECT_EQ(inTime(-0.0021), "−2.10 µs");
}

TEST(Quantities, ADifferenceHasItsSign) {
  EXPECT_EQ(inTimeDifference(0.0004), "+0.400 µs");
  EXPECT_EQ(inTimeDifference(-0.0004), "−0.400 µs");
  EXPECT_EQ(inTimeDifference(0), "0 ms");
  EXPECT_EQ(inCountDifference(2, "cast"), "2 casts more");
  EXPECT_EQ(inCountDifference(-1, "cast"), "1 cast fewer");
  EXPECT_EQ(inCountDifference(0, "cast"), "no cast more");
  EXPECT_EQ(inBytesDifference(149'508), "146 KiB more");
  EXPECT_EQ(inBytesDifference(-512), "512 B less");
  EXPECT_EQ(inBytesDifference(0), "no byte more");
}

TEST(Quantities, BytesAndCounts) {
  EXPECT_EQ(inBytes(0), "0 B");
  EXPECT_EQ(inBytes(1023), "1023 B");
  EXPECT_EQ(inBytes(1536), "1.50 KiB");
  EXPECT_EQ(inBytes(-3 * 1024 * 1024), "−3.00 MiB");
  EXPECT_EQ(inThousands(999), "999");
  EXPECT_EQ(inThousands(104'145), "104,145");
  EXPECT_EQ(inThousands(-1'234'567), "−1,234,567");
}

}  // namespace
}  // namespace fusescope
