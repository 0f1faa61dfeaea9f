#pragma once

#include <optional>
#include <span>

#include "base/small_vector.h"

namespace fusescope::native {

/// All axes but the last two.
SmallDims batchesOf(const SmallDims& dims);
/// `batches` with the last two axes of `matrix`.
SmallDims withMatrix(SmallDims batches, const SmallDims& matrix);
/// Axes of which those of both are runs, without extents of 1; nothing if there are none.
std::optional<SmallDims> commonAxes(const SmallDims& a, const SmallDims& b);

/// The axes in front of the matrices of an attention.
struct AttentionBatches {
  SmallDims scores, result;
  SmallDims all;         ///< as fine as scores, terms and result need them
  bool repeats = false;  ///< the values have batches that the scores broadcast to

  /// Those that an operand of the scores has; `own`: of the scores as it sees them.
  const SmallDims& of(const SmallDims& own) const { return repeats ? result : own; }
};

/// For scores as the first product leaves them, each term's and the result. Nothing unless all are matrices with at
/// least one element each, and their batches the same ones, seen through views as other axes, unless those of the
/// scores broadcast to those of the values.
std::optional<AttentionBatches> batchesFor(const SmallDims& scores, std::span<const SmallDims> terms,
                                           const SmallDims& result);

}  // namespace fusescope::native
