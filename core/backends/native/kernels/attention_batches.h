#pragma once

#include <optional>
#include <span>

#include "base/small_vector.h"

namespace fusescope::native {

/// Returns all axes except the last two.
SmallDims batchesOf(const SmallDims& dims);
/// Returns `batches` followed by the last two axes of `matrix`.
SmallDims withMatrix(SmallDims batches, const SmallDims& matrix);
/// Returns the coarsest axes, without extents of 1, into which the axes of both `a` and `b` can be split. Returns
/// nothing if there are none.
std::optional<SmallDims> commonAxes(const SmallDims& a, const SmallDims& b);

/// The batch axes, in front of the matrices, of an attention.
struct AttentionBatches {
  SmallDims scores, result;
  SmallDims all;         ///< the common axes, as fine as scores, terms and result need them
  bool repeats = false;  ///< the values have batches to which the scores are broadcast

  /// Returns the batch axes for an operand of the scores; `own` are those of the scores as that operand sees them.
  const SmallDims& of(const SmallDims& own) const { return repeats ? result : own; }
};

/// Computes the batch axes from the extents of the scores after the first product, of each term and of the result.
/// Returns nothing unless all are matrices with at least one element, and their batches are equal up to views that
/// split or merge axes, or those of the scores broadcast to those of the values.
std::optional<AttentionBatches> batchesFor(const SmallDims& scores, std::span<const SmallDims> terms,
                                           const SmallDims& result);

}  // namespace fusescope::native
