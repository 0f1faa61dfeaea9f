#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "backends/native/kernels/score_term.h"
#include "backends/native/region_program.h"

namespace fusescope::native {

/// Calculates result = softmax(terms(query · key)) · value. All operands have the same rank, with equal batch extents
/// in front (a stride of 0 where an operand is broadcast): query [.., rows, depth] (contiguous in depth), key [..,
/// depth, keys], value [.., keys, width], result [.., rows, width] (contiguous in width). They are f32 or narrow
/// floats; operands of terms are f32.
struct AttentionCall {
  Ref query, key, value, result;
  std::vector<ScoreTerm> terms;
  std::optional<float> guard;  ///< replaces results of the softmax that are NaN
  /// The 16-bit float type to which results of the softmax are rounded before the second product; Undefined: they are
  /// not rounded.
  DataType weights = DataType::Undefined;
};

/// Returns the call for other extents of the region; nothing if the call must be prepared anew.
using AttentionAt = std::function<std::optional<AttentionCall>(const RegionExtents&)>;

}  // namespace fusescope::native
