#pragma once

#include <vector>

#include "ir/tensor.h"

namespace fusescope::testing {

/// A vector of these numbers, which are rounded to `type`.
inline Tensor floats(const std::vector<float>& values, DataType type = DataType::F32) {
  return Tensor::copyOf<float>(DataType::F32, {std::ssize(values)}, values).converted(type);
}

}  // namespace fusescope::testing
