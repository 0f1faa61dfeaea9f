#include "interchange/export_onnxruntime.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/name_hints.h"
#include "base/text.h"
#include "interchange/export_notes.h"
#include "interchange/lowered_nodes.h"
#include "interchange/python_text.h"
#include "onnxlib/operator_types.h"

namespace fusescope {
namespace {

constexpr std::string_view kOnnxruntime = "--to onnxruntime";

constexpr std::string_view kConverterFunctions = R"python(
# The bounds between which weights are clamped: the least and the largest number of float16.
MIN_POSITIVE_VAL = 5.96e-08
MAX_FINITE_VAL = 65504.0


def main():
    if len(sys.argv) != 3:
        sys.exit(f"usage: {sys.argv[0]} MODEL.onnx OUT.onnx")
    import onnx
    from onnxconverter_common import float16

    model = float16.convert_float_to_float16(
        onnx.load(sys.argv[1]),
        min_positive_val=MIN_POSITIVE_VAL,
        max_finite_val=MAX_FINITE_VAL,
        keep_io_types=True,
        op_block_list=OP_BLOCK_LIST,
        node_block_list=NODE_BLOCK_LIST,
    )
    onnx.save(model, sys.argv[2])


if __name__ == "__main__":
    main()
)python";

/// Whether ONNX has an operand of the operator in float32 alone, as the scales of Resize: the converter converts all
/// operands of a node that it does not block.
bool hasWideOperand(const std::string& op, std::int64_t opset) {
  const auto types = onnxlib::operatorTypes("", op, opset);
  return types && std::ranges::any_of(types->operands, [](const onnxlib::SlotTypes& operand) {
           return operand.allows(DataType::F32) && !operand.allows(DataType::F16);
         });
}

/// Moves such nodes to those that stay in float32, and says so.
void blockWideOperands(const Plan& plan, LoweredNodes& nodes) {
  const auto known = plan.model->opset.find("ai.onnx");
  const std::int64_t opset = known == plan.model->opset.end() ? onnxlib::newestOpset() : known->second;
  std::vector<std::string> blocked;
  std::vector<LoweredNode> narrow;
  for (LoweredNode& node : nodes.narrow) {
    const bool wide = hasWideOperand(node.op, opset);
    if (wide) blocked.push_back(node.shown);
    (wide ? nodes.wide : narrow).push_back(std::move(node));
  }
  nodes.narrow = std::move(narrow);
  if (!blocked.empty())
    nodes.notes.push_back(
        {fmt::format("these stay in float32, though the plan lowers them, since ONNX has an operand of "
                     "theirs in float32 alone and the converter would convert it: {}; --to onnx lowers "
                     "the rest of such a node",
                     fusescope::listed(blocked))});
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
            .message = fmt::format("onnxconverter-common converts a weight for all nodes or for none, and this "
                                   "one is read by '{}' in float32 and by '{}' in float16",
                                   other->second->shown, node.shown),
            .where = {.value = weight},
            .help = fmt::format("Pin both alike (--pin '{}=f32'), give each a copy, or use --to onnx, which "
                                "does that.",
                                node.shown)};
  return Done{};
}

}  // namespace

Result<Exported> writeOnnxruntime(const Plan& plan, const ExportOptions& options) {
  TRY(checkScriptName(options.path, {"onnx", "onnxconverter_common"}));
  LoweredNodes nodes = TRY(loweredNodes(plan, kOnnxruntime, options.stop));
  if (nodes.low == DataType::BF16)
    return Diagnostic{.message = "onnxconverter-common converts to float16 alone, and the plan has bf16",
                      .where = {.node = nodes.narrow.front().shown},
                      .help = "Use --to onnx or --to modelopt, or plan in f16."};
  blockWideOperands(plan, nodes);
  TRY(checkNodeNames(nodes, kOnnxruntime));
  TRY(checkWeights(nodes));
  const std::ptrdiff_t casts = std::ranges::count(nodes.narrow, "Cast", &LoweredNode::op);
  if (casts > 0)
    nodes.notes.push_back(
        {fmt::format("the converter turns {} of the author to float32 into Casts to float16; --to onnx "
                     "keeps them",
                     counted(casts, "Cast"))});
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
  text += "OP_BLOCK_LIST = []" + std::string(kConverterFunctions);
  return Exported{std::move(text), std::move(nodes.notes)};
}

}  // namespace fusescope
