
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/name_hints.h"
#include "base/text.h"
#include "interchange/export_notes.h"
#include "interchange/export_row.h"
#include "interchange/exports.h"
#include "interchange/lowered_nodes.h"
#include "interchange/python_text.h"
#include "ir/graph.h"
#include "onnxlib/operator_types.h"

namespace fusescope {
namespace {

constexpr std::string_view kOnnxruntime = "--to onnxruntime";

constexpr std::string_view kBounds = R"python(
# The bounds between which weights are clamped: the least and the largest number of float16.
MIN_POSITIVE_VAL = 5.96e-08
MAX_FINITE_VAL = 65504.0
)python";

/// The converter declares what a blocked node gives the network as float16, whatever `keep_io_types` says.
constexpr std::string_view kOutputs = R"python(

def keep_outputs(graph, wide):
    """Outputs that were float32 stay so where a node in float32 makes them."""
    import onnx

    makers = {name: node for node in graph.node for name in node.output}
    for value in graph.output:
        if value.name not in wide or value.type.tensor_type.elem_type != onnx.TensorProto.FLOAT16:
            continue
        value.type.tensor_type.elem_type = onnx.TensorProto.FLOAT
        exact = makers[value.name].input[0]  # of the Cast to float16
        renamed = {value.name: value.name + "_float16", exact: value.name}
        for node in graph.node:
            for names in (node.input, node.output):
                for i, name in enumerate(names):
                    names[i] = renamed.get(name, name)
)python";

/// For networks with bodies: the converter changes what is outside of them, and puts no Cast before what they read.
constexpr std::string_view kBodies = R"python(

def bodies_of(node):
    for attribute in node.attribute:
        if attribute.HasField("g"):
            yield attribute.g
        yield from attribute.graphs


def outer_names(body):
    """Names that a body reads and does not make."""
    own = {value.name for value in body.input} | {tensor.name for tensor in body.initializer}
    read = {value.name for value in body.output}
    for node in body.node:
        own.update(node.output)
        read.update(node.input)
        for inner in bodies_of(node):
            read |= outer_names(inner)
    return read - own - {""}


def rename(body, old, new):
    for node in body.node:
        for i, name in enumerate(node.input):
            if name == old:
                node.input[i] = new
        for inner in bodies_of(node):
            rename(inner, old, new)
    for value in body.output:
        if value.name == old:
            value.name = new


def captured_weights(graph):
    """Weights that bodies read, as they were in float32."""
    import onnx

    read = set().union(*(outer_names(body) for node in graph.node for body in bodies_of(node)))
    return {tensor.name: onnx.TensorProto.FromString(tensor.SerializeToString())
            for tensor in graph.initializer if tensor.name in read}


def keep_bodies(graph, weights):
    """Bodies stay in float32: they read weights as they were, and what else the converter changed through a Cast."""
    import onnx

    changed = {value.name for value in [*graph.value_info, *graph.input]
               if value.type.tensor_type.elem_type == onnx.TensorProto.FLOAT16}
    changed |= {tensor.name for tensor in graph.initializer if tensor.data_type == onnx.TensorProto.FLOAT16}
    kept = set()
    for node in graph.node:
        for body in bodies_of(node):
            for name in sorted(outer_names(body) & changed):
                wide = name + "_float32"
                rename(body, name, wide)
                if name not in weights:
                    body.node.insert(0, onnx.helper.make_node("Cast", [name], [wide], to=onnx.TensorProto.FLOAT))
                elif name not in kept:
                    kept.add(name)
                    weights[name].name = wide
                    graph.initializer.append(weights[name])
)python";

/// What converts a network; with `bodies`, by means of kBodies.
std::string mainFunction(bool bodies) {
  return fmt::format(R"python(

def main():
    if len(sys.argv) != 3:
        sys.exit(f"usage: {{sys.argv[0]}} MODEL.onnx OUT.onnx")
    import onnx
    from onnxconverter_common import float16

    model = onnx.load(sys.argv[1])
    wide = {{value.name for value in model.graph.output if value.type.tensor_type.elem_type == onnx.TensorProto.FLOAT}}
{}    model = float16.convert_float_to_float16(
        model,
        min_positive_val=MIN_POSITIVE_VAL,
        max_finite_val=MAX_FINITE_VAL,
        keep_io_types=True,
        op_block_list=OP_BLOCK_LIST,
        node_block_list=NODE_BLOCK_LIST,
    )
    keep_outputs(model.graph, wide)
{}    onnx.save(model, sys.argv[2])


if __name__ == "__main__":
    main()
)python",
                     bodies ? "    weights = captured_weights(model.graph)\n" : "",
                     bodies ? "    keep_bodies(model.graph, weights)\n" : "");
}

/// Returns whether ONNX has an operand of the operator in float32 alone, as the scales of Resize: the converter
/// converts all operands of a node that it does not block.
bool hasWideOperand(const std::string& op, std::int64_t opset) {
  const auto types = onnxlib::operatorTypes("", op, opset);
  return types && std::ranges::any_of(types->operands, [](const onnxlib::SlotTypes& operand) {
           return operand.allows(DataType::F32) && !operand.allows(DataType::F16);
         });
}

/// Moves nodes of which `isIt` to those that stay in float32, and says `why`.
template <class IsIt>
void block(LoweredNodes& nodes, IsIt isIt, std::string_view why) {
  std::vector<std::string> blocked;
  std::vector<LoweredNode> narrow;
  for (LoweredNode& node : nodes.narrow) {
    const bool wide = isIt(node);
    if (wide) blocked.push_back(node.shown);
    (wide ? nodes.wide : narrow).push_back(std::move(node));
  }
  nodes.narrow = std::move(narrow);
  if (!blocked.empty())
    nodes.notes.push_back({fmt::format("these nodes stay in float32, though the plan lowers them, since {}: {}", why,
                                       fusescope::listed(blocked))});
}

/// Blocks what the converter would make a network of that no runtime reads.
void blockUnconvertible(const Plan& plan, LoweredNodes& nodes) {
  const auto known = plan.model->opset.find("ai.onnx");
  const std::int64_t opset = known == plan.model->opset.end() ? onnxlib::newestOpset() : known->second;
  block(
      nodes, [&](const LoweredNode& node) { return hasWideOperand(node.op, opset); },
      "ONNX allows an operand of theirs only in float32, and the converter would convert it (--to onnx lowers the rest "
      "of such a node)");
  block(
      nodes, [](const LoweredNode& node) { return node.op == "Cast"; },
      "they are Casts of the author to float32; the converter would keep them, but declare their results as float16 "
      "(--to onnx writes what the plan has)");
}

/// A weight of a blocked node stays in float32 for all that read it.
Status checkWeights(const LoweredNodes& nodes) {
  std::map<std::string, const LoweredNode*> wide;
  for (const LoweredNode& node : nodes.wide)
    for (const std::string& weight : node.weights) wide.emplace(weight, &node);
  for (const LoweredNode& node : nodes.narrow)
    for (const std::string& weight : node.weights)
      if (const auto other = wide.find(weight); other != wide.end())
        return Diagnostic{
            .message = fmt::format("onnxconverter-common converts a weight either for all nodes or for none, and this "
                                   "one is read by '{}' in float32 and by '{}' in float16",
                                   other->second->shown, node.shown),
            .where = {.value = weight},
            .help = fmt::format("Pin both alike (--pin '{}=f32'), give each a copy, or use --to onnx, which "
                                "does that.",
                                node.shown)};
  return Done{};
}

/// Writes a Python script for onnxconverter-common: `NODE_BLOCK_LIST` with the names of nodes that stay in float32, an
/// empty `OP_BLOCK_LIST`, and the call that converts the model to float16. Errors: the plan lowers to bf16, which the
/// converter does not support.
Result<Exported> writeOnnxruntime(const Plan& plan, const ExportOptions& options) {
  TRY(checkScriptName(options.path, {"onnx", "onnxconverter_common"}));
  LoweredNodes nodes = TRY(loweredNodes(plan, kOnnxruntime, options.stop));
  if (nodes.low == DataType::BF16)
    return Diagnostic{.message = "onnxconverter-common can convert to float16 only, and the plan has bf16",
                      .where = {.node = nodes.narrow.front().shown},
                      .help = "Use --to onnx or --to modelopt, or plan in f16."};
  blockUnconvertible(plan, nodes);
  TRY(checkNodeNames(nodes, kOnnxruntime));
  TRY(checkWeights(nodes));
  std::string text = fmt::format(
      "# Block lists of onnxconverter-common (1.16) and of ONNX Runtime's transformers.float16: {} of the main graph "
      "stay\n"
      "# in float32, {} go to float16. What it writes is a typed network that any ONNX runtime reads; ONNX Runtime's "
      "CPU\n"
      "# has few kernels in float16 and puts Casts around the rest. Use:\n"
      "#   python THIS_FILE MODEL.onnx OUT.onnx\n{}",
      counted(std::ssize(nodes.wide), "node"), nodes.narrow.size(), asComments(nodes.notes));
  text += "import sys\n\n";
  text += "# Exact names. The converter's own list of operators is left empty: the plan has decided node by node.\n";
  text += pythonList("NODE_BLOCK_LIST", nodes.wideNames());
  const bool bodies = std::ranges::any_of(plan.model->origins, [](const Origin& node) { return isHolder(node.op); });
  text += fmt::format("OP_BLOCK_LIST = []{}{}{}{}", kBounds, kOutputs, bodies ? kBodies : "", mainFunction(bodies));
  return Exported{std::move(text), std::move(nodes.notes)};
}

}  // namespace

extern const ExportRow kOnnxruntimeRow{
    .readers = "onnxconverter-common, and ONNX Runtime's `transformers.float16` with the same lists",
    .contents = "a script: `NODE_BLOCK_LIST`, an empty `OP_BLOCK_LIST`, bounds of float16",
    .exactness = "names are exact; float16 only; Casts of the author to float32 and bodies stay in float32"};

extern const Exporter kOnnxruntimeExporter{
    .name = "onnxruntime",
    .title = "Block lists of onnxconverter-common",
    .extension = "py",
    .summary = "a script that has onnxconverter-common write the plan's floats into the network (float16 alone)",
    .write = writeOnnxruntime};

}  // namespace fusescope
