// Normalisation and softmax.
#include <algorithm>

#include "frontends/onnx/adapters/adapters_by_family.h"

namespace fusescope::adapting {
namespace {

/// Returns the only axis of a softmax over all of [axis, rank), if all other axes of these have extent 1.
std::optional<std::int64_t> onlyAxis(const onnxlib::FileType* type, std::int64_t axis) {
  if (type == nullptr || !type->ranked || type->dims.empty()) return std::nullopt;
  const auto rank = static_cast<std::int64_t>(type->dims.size());
  if (axis < 0) axis += rank;
  if (axis < 0 || axis >= rank) return std::nullopt;
  std::int64_t wide = axis, count = 0;
  for (std::int64_t i = axis; i < rank; ++i) {
    if (type->dims[static_cast<std::size_t>(i)].size == 1) continue;
    wide = i;
    ++count;
  }
  return count <= 1 ? std::optional(wide) : std::nullopt;
}

}  // namespace

/// BatchNormalization before 9 with spatial = 0: one mean per element of a sample.
/// y = (x - mean) / sqrt(var + epsilon) * scale + bias, where [C, D…] broadcasts to [N, C, D…].
Result<Nodes> batchNormPerElement(FileNode node, AdaptContext& context) {
  const auto* spatial = attributeAs<std::int64_t>(node, "spatial");
  const bool perChannel = spatial == nullptr || *spatial != 0;
  removeAttribute(node, "spatial");
  if (perChannel) return only(std::move(node));
  if (std::ranges::count_if(node.outputs, [](const std::string& output) { return !output.empty(); }) > 1)
    return cannotAdapt(node, "training statistics for each element (spatial = 0) have no newer form",
                       "Export the model for inference.");
  if (node.inputs.size() != 5 || !hasOutput(node, 0))
    return cannotAdapt(node, "needs five inputs and an output", "Export it again.");
  const auto* given = attributeAs<float>(node, "epsilon");
  Expansion expansion(node, context);
  const auto& in = node.inputs;
  const std::string epsilon = expansion.numberLike("epsilon", given != nullptr ? *given : 1e-5F, in[0]);
  const std::string centred = expansion.add("centred", "Sub", {in[0], in[3]});
  const std::string variance = expansion.add("variance", "Add", {in[4], epsilon});
  const std::string deviation = expansion.add("deviation", "Sqrt", {variance});
  const std::string normal = expansion.add("normal", "Div", {centred, deviation});
  const std::string scaled = expansion.add("scaled", "Mul", {normal, in[1]});
  expansion.append({.name = node.name,
                    .op = "Add",
                    .domain = {},
                    .overload = {},
                    .inputs = {scaled, in[2]},
                    .outputs = {node.outputs[0]},
                    .attributes = {}});
  return expansion.take();
}

/// BatchNormalization before 14: it was in training mode if it had more than one output; outputs after the third do not
/// exist any more.
Result<Nodes> batchNormTraining(FileNode node, AdaptContext&) {
  const auto wanted = std::ranges::count_if(node.outputs, [](const std::string& output) { return !output.empty(); });
  if (wanted > 1) setAttribute(node, "training_mode", std::int64_t{1});
  if (node.outputs.size() > 3) node.outputs.resize(3);
  return only(std::move(node));
}

/// GroupNormalization before 21: scale and bias had one element per group, now one per channel.
/// [G] → Reshape [G, 1] → Expand [G, C / G] → Reshape [C].
Result<Nodes> groupNormChannels(FileNode node, AdaptContext& context) {
  const auto* groups = attributeAs<std::int64_t>(node, "num_groups");
  if (groups == nullptr || *groups <= 0 || node.inputs.size() < 3)
    return cannotAdapt(node, "needs a scale, a bias and a positive number of groups", "Export it again.");
  Expansion expansion(node, context);
  const std::string column = expansion.ints("column", {*groups, 1});
  const std::string flat = expansion.ints("flat", {-1});
  const onnxlib::FileType* x = context.type(node.inputs[0]);
  std::string spread;
  if (x != nullptr && x->dims.size() >= 2 && x->dims[1].size >= 0) {
    spread = expansion.ints("spread", {*groups, x->dims[1].size / *groups});
  } else {
    const std::string count = expansion.ints("groups", {*groups});
    const std::string channels =
        expansion.add("channels", "Shape", {node.inputs[0]},
                      {attribute("start", std::int64_t{1}), attribute("end", std::int64_t{2})});
    const std::string each = expansion.add("channels_of_group", "Div", {channels, count});
    spread = expansion.add("spread", "Concat", {count, each}, {attribute("axis", std::int64_t{0})});
  }
  for (const std::size_t slot : {std::size_t{1}, std::size_t{2}}) {
    const std::string what = slot == 1 ? "scale" : "bias";
    const std::string upright = expansion.add(what + "_column", "Reshape", {node.inputs[slot], column});
    const std::string wide = expansion.add(what + "_spread", "Expand", {upright, spread});
    node.inputs[slot] = expansion.add(what, "Reshape", {wide, flat});
  }
  expansion.append(std::move(node));
  return expansion.take();
}

/// Softmax, LogSoftmax and Hardmax before 13 worked on a matrix: the axes before `axis` (default 1), and those from it
/// on. x → Flatten → Softmax over the rows → Reshape to the extents of x. If only one axis of the row may have an
/// extent other than 1, Softmax alone is sufficient.
Result<Nodes> softmaxOfMatrix(FileNode node, AdaptContext& context) {
  if (!hasInput(node, 0) || !hasOutput(node, 0)) return only(std::move(node));
  const auto* given = attributeAs<std::int64_t>(node, "axis");
  const std::int64_t axis = given != nullptr ? *given : 1;
  if (const auto alone = axis == -1 ? std::optional(axis) : onlyAxis(context.type(node.inputs[0]), axis)) {
    setAttribute(node, "axis", *alone);
    return only(std::move(node));
  }
  Expansion expansion(node, context);
  const std::string x = node.inputs[0], y = node.outputs[0];
  const std::string shape = expansion.add("shape", "Shape", {x});
  node.inputs[0] = expansion.add("matrix", "Flatten", {x}, {attribute("axis", axis)});
  node.outputs[0] = expansion.value("rows");
  const std::string rows = node.outputs[0];
  setAttribute(node, "axis", std::int64_t{-1});
  expansion.append(std::move(node));
  expansion.addTo(y, "as_before", "Reshape", {rows, shape}, {attribute("allowzero", std::int64_t{1})});
  return expansion.take();
}

}  // namespace fusescope::adapting
