#pragma once

#include <cstdint>
#include <string_view>

#include "base/data_type.h"

namespace fusescope::torch {

/// The type that an exported program writes as a number (ScalarType of its schema). Undefined: one that is not known
/// here.
DataType typeOfNumber(std::int64_t number);
/// PyTorch's name of a type by its number: "float32"; empty: not known.
std::string_view nameOfNumber(std::int64_t number);
/// The type that PyTorch calls "float32", "bfloat16"; Undefined: one that is not known here.
DataType typeOfName(std::string_view name);
/// The type of the elements of "FloatStorage"; Undefined: there is no such storage.
DataType typeOfStorage(std::string_view name);

}  // namespace fusescope::torch
