#pragma once

#include <cstdint>

#include "base/data_type.h"

namespace fusescope {

/// Weights of products that are stored as integers, while the products are calculated in floats.
struct WeightOnly {
  DataType type = DataType::Undefined;  ///< I8 or I4; Undefined: no weights are
  std::int64_t block = 0;               ///< number of elements along the summed axis that share a scale; 0: all of them
  bool operator==(const WeightOnly&) const = default;
};

}  // namespace fusescope
