#include "frontends/onnx/adapters.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace fusescope {
namespace {

using onnxlib::FileAttribute;
using onnxlib::FileNode;
using Nodes = std::vector<FileNode>;
using AdaptFunction = Result<Nodes> (*)(FileNode, AdaptContext&);

Nodes only(FileNode node) {
  Nodes nodes;
  nodes.push_back(std::move(node));
  return nodes;
}

template <class T>
const T* attributeAs(const FileNode& node, std::string_view key) {
  const FileAttribute* attribute = node.attribute(key);
  return attribute == nullptr ? nullptr : std::get_if<T>(&attribute->value);
}

void removeAttribute(FileNode& node, std::string_view key) {
  std::erase_if(node.attributes, [&](const FileAttribute& attribute) { return attribute.name == key; });
}

void setAttribute(FileNode& node, std::string key, onnxlib::FileAttributeValue value) {
  removeAttribute(node, key);
  node.attributes.push_back({.name = std::move(key), .reference = {}, .value = std::move(value)});
}

/// Puts `value` into input slot `slot`, with absent inputs before it if need be.
void setInput(FileNode& node, std::size_t slot, std::string value) {
  if (node.inputs.size() <= slot) node.inputs.resize(slot + 1);
  node.inputs[slot] = std::move(value);
}

/// An attribute of integers that became an input.
Result<Nodes> attributeToInput(FileNode node, AdaptContext& context, std::string_view key, std::size_t slot) {
  const auto* values = attributeAs<std::vector<std::int64_t>>(node, key);
  if (values != nullptr)
    setInput(node, slot, context.addConstant(node.displayName() + "/" + std::string(key), *values));
  removeAttribute(node, key);
  return only(std::move(node));
}

/// Reduce… before 18: axes were an attribute.
Result<Nodes> reduceAxes(FileNode node, AdaptContext& context) {
  return attributeToInput(std::move(node), context, "axes", 1);
}

/// Split before 18: without sizes it split evenly into as many parts as there are outputs.
Result<Nodes> splitCount(FileNode node, AdaptContext&) {
  if (node.inputs.size() < 2 || node.inputs[1].empty())
    setAttribute(node, "num_outputs", static_cast<std::int64_t>(node.outputs.size()));
  return only(std::move(node));
}

/// BatchNormalization before 14: it was training if it had more outputs than one; those beyond the third are gone.
Result<Nodes> batchNormTraining(FileNode node, AdaptContext&) {
  const auto wanted = std::ranges::count_if(node.outputs, [](const std::string& output) { return !output.empty(); });
  if (wanted > 1) setAttribute(node, "training_mode", std::int64_t{1});
  if (node.outputs.size() > 3) node.outputs.resize(3);
  return only(std::move(node));
}

/// GridSample before 20 called its modes bilinear and bicubic.
Result<Nodes> gridSampleModes(FileNode node, AdaptContext&) {
  const auto* mode = attributeAs<std::string>(node, "mode");
  if (mode == nullptr) return only(std::move(node));
  const std::string newer = *mode == "bilinear" ? "linear" : *mode == "bicubic" ? "cubic" : *mode;
  setAttribute(node, "mode", newer);
  return only(std::move(node));
}

/// DFT before 20: the axis was an attribute, 1 by default.
Result<Nodes> dftAxis(FileNode node, AdaptContext& context) {
  const auto* axis = attributeAs<std::int64_t>(node, "axis");
  setInput(node, 2, context.addConstant(node.displayName() + "/axis", {axis != nullptr ? *axis : 1}));
  removeAttribute(node, "axis");
  return only(std::move(node));
}

/// GroupNormalization before 21: scale and bias had one element per group, now one per channel.
/// [G] → Reshape [G, 1] → Expand [G, C/G] → Reshape [C].
Result<Nodes> groupNormChannels(FileNode node, AdaptContext& context) {
  const auto* groups = attributeAs<std::int64_t>(node, "num_groups");
  const onnxlib::FileType* x = context.type(node.inputs.at(0));
  if (groups == nullptr || *groups <= 0 || x == nullptr || x->dims.size() < 2 || x->dims[1].size < 0)
    return Diagnostic{.message = "the number of channels must be known to bring it to its newer form",
                      .where = {.node = node.displayName()},
                      .help = "Run ONNX's shape inference on the file, or export at opset 21 or later."};
  const std::string base = node.displayName();
  const std::string columns = context.addConstant(base + "/column", {*groups, 1});
  const std::string spread = context.addConstant(base + "/spread", {*groups, x->dims[1].size / *groups});
  const std::string flat = context.addConstant(base + "/flat", {-1});
  Nodes nodes;
  const auto append = [&](const std::string& what, const char* op, const std::string& input, const std::string& shape) {
    const std::string output = context.freshValue(base + "/" + what);
    nodes.push_back({.name = base + "/" + what,
                     .op = op,
                     .domain = {},
                     .overload = {},
                     .inputs = {input, shape},
                     .outputs = {output},
                     .attributes = {}});
    return output;
  };
  for (const std::size_t slot : {std::size_t{1}, std::size_t{2}}) {
    const std::string what = slot == 1 ? "scale" : "bias";
    const std::string column = append(what + "_column", "Reshape", node.inputs.at(slot), columns);
    const std::string wide = append(what + "_spread", "Expand", column, spread);
    node.inputs[slot] = append(what, "Reshape", wide, flat);
  }
  nodes.push_back(std::move(node));
  return nodes;
}

/// Resize and its kin: an empty constant in an optional slot means "absent" (roi, scales).
Result<Nodes> emptyInputsAbsent(FileNode node, AdaptContext& context) {
  for (std::size_t slot = 1; slot < node.inputs.size(); ++slot) {
    const onnxlib::FileTensor* constant = context.constant(node.inputs[slot]);
    if (constant != nullptr && constant->dims == std::vector<std::int64_t>{0}) node.inputs[slot].clear();
  }
  return only(std::move(node));
}

constexpr std::int64_t kAlways = INT64_MAX;

struct AdapterRow {
  std::string_view op;
  std::int64_t before;  ///< nodes written at an older opset are adapted
  AdaptFunction adapt;
};

/// Differences between opset 13 and the newest that are more than a wider list of types or an attribute whose default
/// is the older behaviour. Rows of one operator stand oldest first.
constexpr std::array kAdapters{
    AdapterRow{"ReduceL1", 18, reduceAxes},
    AdapterRow{"ReduceL2", 18, reduceAxes},
    AdapterRow{"ReduceLogSum", 18, reduceAxes},
    AdapterRow{"ReduceLogSumExp", 18, reduceAxes},
    AdapterRow{"ReduceMax", 18, reduceAxes},
    AdapterRow{"ReduceMean", 18, reduceAxes},
    AdapterRow{"ReduceMin", 18, reduceAxes},
    AdapterRow{"ReduceProd", 18, reduceAxes},
    AdapterRow{"ReduceSumSquare", 18, reduceAxes},
    AdapterRow{"Split", 18, splitCount},
    AdapterRow{"BatchNormalization", 14, batchNormTraining},
    AdapterRow{"GridSample", 20, gridSampleModes},
    AdapterRow{"DFT", 20, dftAxis},
    AdapterRow{"GroupNormalization", 21, groupNormChannels},
    AdapterRow{"Resize", kAlways, emptyInputsAbsent},
};

}  // namespace

bool needsAdapting(const FileNode& node, std::int64_t opset) {
  return node.domain.empty() &&
         std::ranges::any_of(kAdapters, [&](const AdapterRow& row) { return row.op == node.op && opset < row.before; });
}

Result<Nodes> adaptNode(FileNode node, std::int64_t opset, AdaptContext& context) {
  Nodes nodes;
  nodes.push_back(std::move(node));
  for (const AdapterRow& row : kAdapters) {
    if (row.op != nodes.back().op || opset >= row.before) continue;
    FileNode last = std::move(nodes.back());
    nodes.pop_back();
    Nodes adapted = TRY(row.adapt(std::move(last), context));
    std::ranges::move(adapted, std::back_inserter(nodes));
  }
  return nodes;
}

}  // namespace fusescope
