#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/stop.h"
#include "ir/tensor.h"

namespace fusescope {

/// Two axes of a tensor, and an index for each of the others.
struct SliceChoice {
  int rows = -1, columns = -1;     ///< axes; -1: none, so that there is one row or column
  std::vector<std::int64_t> at{};  ///< for each axis; the entries of the two axes are ignored
  bool operator==(const SliceChoice&) const = default;
};

/// Returns the slice with the last axis as columns, the axis before it as rows, and index 0 for the others.
SliceChoice usualSlice(const Dims& dims);
/// Parses "0,:,3,:": an index or ":" for each axis, with ":" for one or two of them. Errors say which part is wrong.
Result<SliceChoice> sliceFromText(std::string_view text, const Dims& dims);
std::string toText(const SliceChoice& slice);

/// A slice with a limited number of cells. If there are more elements than cells, a cell represents a block of elements
/// and shows the one with the largest absolute value; NaN counts as larger than any number.
struct TensorSlice {
  SliceChoice choice;
  std::int64_t rows = 0, columns = 0;            ///< number of elements
  std::int64_t blockRows = 1, blockColumns = 1;  ///< elements per cell
  std::int64_t cellRows = 0, cellColumns = 0;
  std::vector<double> numbers;         ///< for each cell, row by row
  std::vector<std::int64_t> elements;  ///< for each cell, the index in the tensor of the element that is shown
  double least = 0, most = 0;          ///< of the finite `numbers`; both 0 if there is none
  std::size_t cell(std::int64_t row, std::int64_t column) const {
    return static_cast<std::size_t>(row * cellColumns + column);
  }
};

/// Makes the slice. `tensor` must contain numbers (whyNoNumbers()), and `choice` must fit its extents. Errors:
/// cancellation.
Result<TensorSlice> sliceOf(const Tensor& tensor, const SliceChoice& choice, std::int64_t mostRows,
                            std::int64_t mostColumns, const StopToken& stop = {});

}  // namespace fusescope
