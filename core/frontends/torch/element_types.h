#pragma once

#include <cstdint>
#include <string_view>

#include "base/data_type.h"

namespace fusescope::torch {

/// Returns the type for the number in an exported program (ScalarType of its schema), or Undefined if we do not have
/// the type.
DataType typeOfNumber(std::int64_t number);
/// Returns PyTorch's name, such as "float32", of the type with this number; empty if it is unknown.
std::string_view nameOfNumber(std::int64_t number);
/// Returns the type that PyTorch calls "float32", "bfloat16", …, or Undefined if we do not have it.
DataType typeOfName(std::string_view name);
/// Returns the element type of a storage such as "FloatStorage", or Undefined if there is no such storage.
DataType typeOfStorage(std::string_view name);

}  // namespace fusescope::torch
