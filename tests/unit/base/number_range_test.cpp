#include "base/number_range.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace fusescope {
namespace {

TEST(NumberRange, SaysWhatATypeHolds) {
  EXPECT_EQ(rangeOf(DataType::F32)->most, std::numeric_limits<float>::max());
  EXPECT_EQ(rangeOf(DataType::F64)->least, std::numeric_limits<double>::lowest());
  EXPECT_EQ(rangeOf(DataType::F16)->most, 65504);
  EXPECT_EQ(rangeOf(DataType::BF16)->most, std::ldexp(255.0, 120));
  EXPECT_EQ(rangeOf(DataType::I8)->least, -128);
  EXPECT_EQ(rangeOf(DataType::U4)->most, 15);
  EXPECT_FALSE(rangeOf(DataType::Bool) || rangeOf(DataType::String) || rangeOf(DataType::C64));
}

/// What the standard library says a unit of float is at `value`.
double unitOfFloat(float value) {
  return static_cast<double>(std::nextafter(std::fabs(value), INFINITY)) - std::fabs(value);
}

TEST(NumberRange, UnitsInTheLastPlaceAreThoseOfTheLibrary) {
  const UnitsInLastPlace ofFloat(DataType::F32), ofDouble(DataType::F64);
  for (const float value : {0.0F, 1e-45F, 1e-39F, 1.17549435e-38F, 0.1F, -1.0F, 1.5F, 2.0F, -65504.0F, 3e38F})
    EXPECT_EQ(ofFloat.of(unitOfFloat(value), value), 1) << value;
  for (const double value : {0.0, 5e-324, 1e-310, 0.1, -1.0, 3.0, 1e300, 1.7e308})
    EXPECT_EQ(ofDouble.of(std::fabs(value) < 1.7e308 ? std::nextafter(std::fabs(value), INFINITY) - std::fabs(value)
                                                     : std::ldexp(1.0, 971),
                          value),
              1)
        << value;
  EXPECT_EQ(UnitsInLastPlace(DataType::F16).of(0.5, 1024), 0.5);
  EXPECT_EQ(UnitsInLastPlace(DataType::BF16).of(1, 128), 1);
  EXPECT_EQ(UnitsInLastPlace(DataType::I8).of(3, 100), 3);
}

}  // namespace
}  // namespace fusescope
