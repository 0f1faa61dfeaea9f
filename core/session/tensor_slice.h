#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/stop.h"
#include "ir/tensor.h"

namespace fusescope {

/// Two axes of a tensor, and a place along each of the others.
struct SliceChoice {
  int rows = -1, columns = -1;     ///< axes; -1: there is none, and one row or column
  std::vector<std::int64_t> at{};  ///< by axis; what stands for the two axes does not count
  bool operator==(const SliceChoice&) const = default;
};

/// The last axis across, the one before it downwards, and 0 along the others.
SliceChoice usualSlice(const Dims& dims);
/// "0,:,3,:": an index or ":" for each axis, ":" for one or two of them. Errors say which part is wrong.
Result<SliceChoice> sliceFromText(std::string_view text, const Dims& dims);
std::string toText(const SliceChoice& slice);

/// The slice in at most so many cells. Where there are more elements than cells, a cell stands for a block of elements
/// and shows the one that is largest in size; NaN is taken for larger than any number.
struct TensorSlice {
  SliceChoice choice;
  std::int64_t rows = 0, columns = 0;            ///< elements
  std::int64_t blockRows = 1, blockColumns = 1;  ///< elements in a cell
  std::int64_t cellRows = 0, cellColumns = 0;
  std::vector<double> numbers;         ///< by cell, row by row
  std::vector<std::int64_t> elements;  ///< by cell: the element that is shown, by its place in the tensor
  double least = 0, most = 0;          ///< of the finite ones among `numbers`; both 0 where there is none
  std::size_t cell(std::int64_t row, std::int64_t column) const {
    return static_cast<std::size_t>(row * cellColumns + column);
  }
};

/// `tensor` must hold numbers (whyNoNumbers()), and `choice` be one of its extents. Errors: cancellation.
Result<TensorSlice> sliceOf(const Tensor& tensor, const SliceChoice& choice, std::int64_t mostRows,
                            std::int64_t mostColumns, const StopToken& stop = {});

}  // namespace fusescope
