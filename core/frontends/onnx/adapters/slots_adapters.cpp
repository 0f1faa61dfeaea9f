// Attributes that became inputs.
#include "frontends/onnx/adapters/adapters_by_family.h"

namespace fusescope::adapting {

/// Reduce… before 18 (ReduceSum: 13), Squeeze and Unsqueeze before 13: axes were an attribute.
Result<Nodes> reduceAxes(FileNode node, AdaptContext& context) {
  intsToInput(node, context, "axes", 1);
  return only(std::move(node));
}

/// Split before 13: the sizes were an attribute.
Result<Nodes> splitSizes(FileNode node, AdaptContext& context) {
  intsToInput(node, context, "split", 1);
  return only(std::move(node));
}

/// Split before 18: without sizes it split evenly into as many parts as there are outputs.
Result<Nodes> splitCount(FileNode node, AdaptContext&) {
  if (!hasInput(node, 1)) setAttribute(node, "num_outputs", static_cast<std::int64_t>(node.outputs.size()));
  return only(std::move(node));
}

/// Clip before 11: the bounds were attributes. Their defaults were the largest numbers, which have no effect.
Result<Nodes> clipBounds(FileNode node, AdaptContext& context) {
  Nodes nodes;
  numberToInput(node, context, nodes, "min", 1);
  numberToInput(node, context, nodes, "max", 2);
  nodes.push_back(std::move(node));
  return nodes;
}

/// Pad before 11: amounts and value were attributes.
Result<Nodes> padAmounts(FileNode node, AdaptContext& context) {
  Nodes nodes;
  intsToInput(node, context, "pads", 1);
  numberToInput(node, context, nodes, "value", 2);
  nodes.push_back(std::move(node));
  return nodes;
}

/// Slice before 10: starts, ends and axes were attributes, and there were no steps.
Result<Nodes> sliceBounds(FileNode node, AdaptContext& context) {
  intsToInput(node, context, "starts", 1);
  intsToInput(node, context, "ends", 2);
  intsToInput(node, context, "axes", 3);
  return only(std::move(node));
}

/// TopK before 10: the number of results was an attribute.
Result<Nodes> topKCount(FileNode node, AdaptContext& context) {
  const auto* count = attributeAs<std::int64_t>(node, "k");
  if (count != nullptr) setInput(node, 1, context.addConstant(node.displayName() + "/k", {*count}));
  removeAttribute(node, "k");
  return only(std::move(node));
}

/// DFT before 20: the axis was an attribute, 1 by default.
Result<Nodes> dftAxis(FileNode node, AdaptContext& context) {
  const auto* axis = attributeAs<std::int64_t>(node, "axis");
  setInput(node, 2, context.addConstant(node.displayName() + "/axis", {axis != nullptr ? *axis : 1}));
  removeAttribute(node, "axis");
  return only(std::move(node));
}

/// Dropout before 10: its mask had the type of the data.
Result<Nodes> dropoutMask(FileNode node, AdaptContext& context) {
  if (!hasOutput(node, 1) || !hasInput(node, 0)) return only(std::move(node));
  Expansion expansion(node, context);
  const std::string mask = node.outputs[1];
  node.outputs[1] = expansion.value("mask");
  const std::vector<std::string> cast = {node.outputs[1], node.inputs[0]};
  expansion.append(std::move(node));
  expansion.addTo(mask, "mask_typed", "CastLike", cast);
  return expansion.take();
}

/// Dropout before 12 had no training mode, so that its ratio had no effect.
Result<Nodes> dropoutRatio(FileNode node, AdaptContext&) {
  removeAttribute(node, "ratio");
  return only(std::move(node));
}

}  // namespace fusescope::adapting
