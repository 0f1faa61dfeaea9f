#pragma once

#include <cstdint>
#include <optional>
#include <set>

#include "base/ids.h"
#include "base/result.h"
#include "base/stop.h"
#include "ir/tensor.h"

namespace fusescope {

class Graph;
struct Node;

/// How the codes of an edge represent numbers: number = (code - zero) · scale.
struct CodeMeaning {
  DataType type = DataType::Undefined;  ///< type of the codes
  Tensor scale;                         ///< f32: one element, or one per index of `axis`
  Tensor zero;                          ///< extents of the scale, type `type`
  std::int64_t axis = 1;

  /// Quantises numbers to the nearest codes, clamped at the ends. It is an error if the extents do not fit the scale.
  Result<Tensor> codesOf(const Tensor& numbers, const StopToken& stop = {}) const;
  /// Does the inverse, and returns f32.
  Result<Tensor> numbersOf(const Tensor& codes, const StopToken& stop = {}) const;

 private:
  bool isByOneInteger() const;
};

/// Returns how codes represent numbers in `value`, if a QuantizeLinear makes it, a DequantizeLinear reads it, or it
/// consists of the elements of such codes, moved, selected or joined. Returns nothing if the scale is not a constant,
/// is one per block, or is not the same everywhere.
std::optional<CodeMeaning> codeMeaning(const Graph& graph, ValueId value);

/// Returns whether codes still represent the same numbers after this node: it only moves, selects, joins or repeats
/// elements, or takes the largest in a window.
bool carriesCodes(const Node& node);

/// All edges that pass on the same codes, in both directions, starting from one of them.
struct CodeReach {
  std::set<ValueId> values;  ///< of one element type
  std::set<NodeId> nodes;    ///< nodes that make or read one of them
};
CodeReach reachOfCodes(const Graph& graph, ValueId value);

}  // namespace fusescope
