#include "tests/property/arrays.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace fusescope::property {

namespace {

struct Format {
  int mantissa = 0;  ///< bits, the hidden one included; 0: not a float narrower than double
  int smallest = 0;  ///< exponent of the smallest normal number
  double largest = 0;
};

Format formatOf(DataType type) {
  switch (type) {
    case DataType::F32:
      return {24, -126, 3.4028234663852886e38};
    case DataType::F16:
      return {11, -14, 65504};
    case DataType::BF16:
      return {8, -126, 3.3895313892515355e38};
    default:
      return {};
  }
}

double spacing(const Format& format, double value) {
  int exponent = format.smallest;
  if (value != 0 && std::isfinite(value)) exponent = std::max(std::ilogb(value), format.smallest);
  return std::ldexp(1.0, exponent - format.mantissa + 1);
}

}  // namespace

Array zeros(Dims dims) {
  const auto count = static_cast<std::size_t>(elementCount(dims).value());
  return {std::move(dims), std::vector<double>(count, 0)};
}

Array fromTensor(const Tensor& tensor) {
  Array array = zeros(tensor.dims());
  for (std::int64_t i = 0; i < tensor.count(); ++i) array.values[static_cast<std::size_t>(i)] = tensor.asDouble(i);
  return array;
}

Tensor toTensor(const Array& array, DataType type) {
  Tensor tensor = Tensor::zeros(DataType::F64, array.dims);
  for (std::size_t i = 0; i < array.values.size(); ++i)
    tensor.mutableData<double>()[i] = roundedTo(type, array.values[i]);
  return type == DataType::F64 ? tensor : tensor.converted(type);
}

double roundedTo(DataType type, double value) {
  const Format format = formatOf(type);
  if (format.mantissa == 0 || !std::isfinite(value)) return value;
  const double step = spacing(format, value);
  const double near = std::nearbyint(value / step) * step;
  return std::abs(near) > format.largest ? std::copysign(std::numeric_limits<double>::infinity(), value) : near;
}

Array rounded(Array array, DataType type) {
  for (double& value : array.values) value = roundedTo(type, value);
  return array;
}

double ulpAt(DataType type, double value) {
  const Format format = formatOf(type);
  return format.mantissa == 0 ? 0 : spacing(format, value);
}

double rootMeanSquare(const Array& array) {
  double sum = 0, count = 0;
  for (const double value : array.values) {
    if (!std::isfinite(value)) continue;
    sum += value * value;
    ++count;
  }
  return count == 0 ? 0 : std::sqrt(sum / count);
}

std::vector<std::int64_t> stridesOf(const Dims& dims) {
  std::vector<std::int64_t> strides(dims.size(), 1);
  for (std::size_t i = dims.size(); i > 1; --i) strides[i - 2] = strides[i - 1] * dims[i - 1];
  return strides;
}

std::vector<std::size_t> broadcastOffsets(const Dims& from, const Dims& dims) {
  const auto count = static_cast<std::size_t>(elementCount(dims).value());
  const std::vector<std::int64_t> strides = stridesOf(from), outer = stridesOf(dims);
  std::vector<std::size_t> offsets(count, 0);
  for (std::size_t i = 0; i < count; ++i) {
    std::int64_t offset = 0;
    for (std::size_t axis = 0; axis < from.size(); ++axis) {
      const std::size_t place = dims.size() - from.size() + axis;
      const std::int64_t index = static_cast<std::int64_t>(i) / outer[place] % dims[place];
      if (from[axis] != 1) offset += index * strides[axis];
    }
    offsets[i] = static_cast<std::size_t>(offset);
  }
  return offsets;
}

}  // namespace fusescope::property
