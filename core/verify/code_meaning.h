#pragma once

#include <cstdint>
#include <optional>
#include <set>

#include "base/result.h"
#include "base/stop.h"
#include "ir/graph.h"

namespace fusescope {

/// What the codes of an edge stand for: number = (code - zero) · scale.
struct CodeMeaning {
  DataType type = DataType::Undefined;  ///< of the codes
  Tensor scale;                         ///< f32: one, or one for each place along `axis`
  Tensor zero;                          ///< as the scale, of `type`
  std::int64_t axis = 1;

  /// Rounded to the nearest code, clamped at the ends. Errors: extents that the scale is not of.
  Result<Tensor> codesOf(const Tensor& numbers, const StopToken& stop = {}) const;
  /// The inverse, of f32.
  Result<Tensor> numbersOf(const Tensor& codes, const StopToken& stop = {}) const;

 private:
  bool isByOneInteger() const;
};

/// What `value` stands for where a QuantizeLinear made it or a DequantizeLinear reads it, or where it is the elements
/// of such codes, moved, picked or joined. Nothing where the scale is not a constant, is one for each block, or is not
/// the same everywhere.
std::optional<CodeMeaning> codeMeaning(const Graph& graph, ValueId value);

/// Whether codes that go through the node go on standing for the same numbers: it only moves, picks, joins or repeats
/// elements, or takes the largest of a window.
bool carriesCodes(const Node& node);

/// All edges of codes that hand the same codes on, in both directions, from one of them on.
struct CodeReach {
  std::set<ValueId> values;  ///< of one element type
  std::set<NodeId> nodes;    ///< that make or read one of them
};
CodeReach reachOfCodes(const Graph& graph, ValueId value);

}  // namespace fusescope
