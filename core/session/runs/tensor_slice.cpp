#include "session/runs/tensor_slice.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "base/text.h"

namespace fusescope {
namespace {

std::int64_t extentOf(const Dims& dims, int axis) {
  return axis < 0 ? 1 : dims[static_cast<std::size_t>(axis)];
}

std::int64_t ceilDivided(std::int64_t a, std::int64_t b) {
  return (a + b - 1) / b;
}

/// Returns the number of elements between neighbours along each axis.
std::vector<std::int64_t> stridesOf(const Dims& dims) {
  std::vector<std::int64_t> strides(dims.size(), 1);
  for (std::size_t axis = dims.size(); axis-- > 1;) strides[axis - 1] = strides[axis] * dims[axis];
  return strides;
}

double sizeOf(double number) {
  return std::isnan(number) ? std::numeric_limits<double>::infinity() : std::abs(number);
}

Diagnostic badSlice(std::string message, std::size_t axes) {
  return {.message = std::move(message),
          .where = {.attribute = "--slice"},
          .help = fmt::format("Give an index or ':' for each axis ({} here), ':' for one or two of them.", axes)};
}

}  // namespace

SliceChoice usualSlice(const Dims& dims) {
  const int axes = static_cast<int>(dims.size());
  return {.rows = axes >= 2 ? axes - 2 : -1,
          .columns = axes >= 1 ? axes - 1 : -1,
          .at = std::vector<std::int64_t>(dims.size(), 0)};
}

Result<SliceChoice> sliceFromText(std::string_view text, const Dims& dims) {
  const std::vector<std::string> parts = text.empty() ? std::vector<std::string>() : split(text, ',');
  if (parts.size() != dims.size())
    return badSlice(
        fmt::format("'{}' has {}, the tensor has {}", text, counted(std::ssize(parts), "part"), dims.size()),
        dims.size());
  SliceChoice choice{.at = std::vector<std::int64_t>(dims.size(), 0)};
  int free = 0;
  for (std::size_t axis = 0; axis < dims.size(); ++axis) {
    const std::string& part = parts[axis];
    if (part == ":") {
      if (++free > 2) return badSlice(fmt::format("'{}' has ':' for more than two axes", text), dims.size());
      choice.rows = choice.columns;
      choice.columns = static_cast<int>(axis);
      continue;
    }
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), choice.at[axis]);
    if (error != std::errc() || end != part.data() + part.size())
      return badSlice(fmt::format("'{}' is neither an index nor ':'", part), dims.size());
    if (choice.at[axis] < 0 || choice.at[axis] >= dims[axis])
      return badSlice(fmt::format("{} is not an index of axis {}, whose extent is {}", part, axis, dims[axis]),
                      dims.size());
  }
  return choice;
}

std::string toText(const SliceChoice& slice) {
  std::vector<std::string> parts;
  for (std::size_t axis = 0; axis < slice.at.size(); ++axis) {
    const bool isFree = static_cast<int>(axis) == slice.rows || static_cast<int>(axis) == slice.columns;
    parts.push_back(isFree ? ":" : std::to_string(slice.at[axis]));
  }
  return joined(parts, ",");
}

Result<TensorSlice> sliceOf(const Tensor& tensor, const SliceChoice& choice, std::int64_t mostRows,
                            std::int64_t mostColumns, const StopToken& stop) {
  const Dims& dims = tensor.dims();
  const std::vector<std::int64_t> strides = stridesOf(dims);
  const auto stepOf = [&](int axis) { return axis < 0 ? 0 : strides[static_cast<std::size_t>(axis)]; };
  TensorSlice slice{.choice = choice, .rows = extentOf(dims, choice.rows), .columns = extentOf(dims, choice.columns)};
  slice.blockRows = std::max<std::int64_t>(1, ceilDivided(slice.rows, mostRows));
  slice.blockColumns = std::max<std::int64_t>(1, ceilDivided(slice.columns, mostColumns));
  slice.cellRows = ceilDivided(slice.rows, slice.blockRows);
  slice.cellColumns = ceilDivided(slice.columns, slice.blockColumns);
  slice.numbers.assign(static_cast<std::size_t>(slice.cellRows * slice.cellColumns), 0.0);
  slice.elements.assign(slice.numbers.size(), -1);
  std::int64_t begin = 0;
  for (std::size_t axis = 0; axis < dims.size(); ++axis)
    if (static_cast<int>(axis) != choice.rows && static_cast<int>(axis) != choice.columns)
      begin += choice.at[axis] * strides[axis];
  for (std::int64_t row = 0; row < slice.rows; ++row) {
    TRY(checkStop(stop));
    for (std::int64_t column = 0; column < slice.columns; ++column) {
      const std::int64_t element = begin + row * stepOf(choice.rows) + column * stepOf(choice.columns);
      const double number = tensor.asDouble(element);
      const std::size_t cell = slice.cell(row / slice.blockRows, column / slice.blockColumns);
      const bool isLarger = slice.elements[cell] < 0 || sizeOf(number) > sizeOf(slice.numbers[cell]) ||
                            (std::isnan(number) && !std::isnan(slice.numbers[cell]));
      if (!isLarger) continue;
      slice.numbers[cell] = number;
      slice.elements[cell] = element;
    }
  }
  bool any = false;
  for (const double number : slice.numbers) {
    if (!std::isfinite(number)) continue;
    slice.least = any ? std::min(slice.least, number) : number;
    slice.most = any ? std::max(slice.most, number) : number;
    any = true;
  }
  return slice;
}

}  // namespace fusescope
