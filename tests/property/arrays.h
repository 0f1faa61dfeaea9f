#pragma once

#include <vector>

#include "ir/tensor.h"

namespace fusescope::property {

/// Numbers of whatever type, as doubles: 64-bit integers are small here.
struct Array {
  Dims dims;
  std::vector<double> values;
  std::int64_t count() const { return static_cast<std::int64_t>(values.size()); }
};

Array zeros(Dims dims);
Array fromTensor(const Tensor& tensor);
/// As `type` holds it; rounds to nearest even. Integers must be whole and in range.
Tensor toTensor(const Array& array, DataType type);
/// What a float type that is narrower than double makes of `value`; other types leave it. Written from IEEE 754 alone.
double roundedTo(DataType type, double value);
Array rounded(Array array, DataType type);
/// The distance of two neighbours of a float type at `value`; 0 for others.
double ulpAt(DataType type, double value);
double rootMeanSquare(const Array& array);  ///< of what is finite
/// Offsets of the elements of `from` for each element of `dims`, to which it broadcasts.
std::vector<std::size_t> broadcastOffsets(const Dims& from, const Dims& dims);
std::vector<std::int64_t> stridesOf(const Dims& dims);

}  // namespace fusescope::property
