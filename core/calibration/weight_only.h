#pragma once

#include <cstdint>

#include "base/data_type.h"

namespace fusescope {

/// Weights of products that are held as integers and calculated with as floats.
struct WeightOnly {
  DataType type = DataType::Undefined;  ///< I8 or I4; Undefined: none are
  std::int64_t block = 0;               ///< so many along what is summed share a scale; 0: all of them
  bool operator==(const WeightOnly&) const = default;
};

}  // namespace fusescope
