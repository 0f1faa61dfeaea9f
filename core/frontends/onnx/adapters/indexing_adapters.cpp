// Operators that take indices.
#include "frontends/onnx/adapters/adapters_by_family.h"

namespace fusescope::adapting {

/// Scatter was renamed in 11.
Result<Nodes> scatterToScatterElements(FileNode node, AdaptContext&) {
  node.op = "ScatterElements";
  return only(std::move(node));
}

/// OneHot before 11: an index below 0 was outside, while it now counts from the end. Such an index is replaced by
/// `depth`, which is outside in both versions.
Result<Nodes> oneHotNegatives(FileNode node, AdaptContext& context) {
  if (!hasInput(node, 0) || !hasInput(node, 1)) return only(std::move(node));
  Expansion expansion(node, context);
  const std::string indices = node.inputs[0];
  const std::string zero = expansion.numberLike("zero", 0.0F, indices);
  const std::string negative = expansion.add("is_negative", "Less", {indices, zero});
  const std::string scalar = expansion.ints("scalar", {});
  const std::string depth = expansion.add("depth", "Reshape", {node.inputs[1], scalar});
  const std::string outside = expansion.add("outside", "CastLike", {depth, indices});
  node.inputs[0] = expansion.add("indices", "Where", {negative, outside, indices});
  expansion.append(std::move(node));
  return expansion.take();
}

}  // namespace fusescope::adapting
