
#include <fmt/format.h>

#include <set>

#include "base/text.h"
#include "interchange/export_notes.h"
#include "interchange/export_row.h"
#include "interchange/exports.h"
#include "interchange/lowered_nodes.h"
#include "interchange/python_text.h"
#include "ir/graph.h"

namespace fusescope {
namespace {

constexpr std::string_view kModelopt = "--to modelopt";

/// data_max, init_max and the depth of reductions would keep further nodes in float32; the plan has decided already.
constexpr std::string_view kModeloptFunctions = R"python(

def main():
    if len(sys.argv) not in (3, 4):
        sys.exit(f"usage: {sys.argv[0]} MODEL.onnx OUT.onnx [CALIBRATION.npz]")
    import onnx
    from modelopt.onnx.autocast import convert_to_mixed_precision

    model = convert_to_mixed_precision(
        onnx_path=sys.argv[1],
        low_precision_type=LOW_PRECISION_TYPE,
        nodes_to_exclude=NODES_TO_EXCLUDE,
        data_max=math.inf,
        init_max=math.inf,
        keep_io_types=True,
        calibration_data=sys.argv[3] if len(sys.argv) == 4 else None,
    )
    onnx.save(model, sys.argv[2])


if __name__ == "__main__":
    main()
)python";

/// AutoCast writes the arithmetic of a LayerNormalization as one node, called after its first ReduceMean, before it
/// matches names.
std::vector<std::string> excludedExpressions(const LoweredNodes& nodes) {
  std::set<std::string> narrow;
  for (const LoweredNode& node : nodes.narrow) narrow.insert(node.name);
  std::vector<std::string> texts;
  std::set<std::string> said;
  for (const LoweredNode& node : nodes.wide) {
    if (said.insert(node.name).second) texts.push_back(exactExpression(node.name));
    const std::string joined = "LayerNorm_" + node.name;
    if (node.op == "ReduceMean" && !narrow.contains(joined) && said.insert(joined).second)
      texts.push_back(exactExpression(joined));
  }
  return texts;
}

void addAutocastNotes(LoweredNodes& nodes) {
  std::vector<std::string> casts;
  for (const auto* list : {&nodes.wide, &nodes.narrow})
    for (const LoweredNode& node : *list)
      if (node.op == "Cast") casts.push_back(node.shown);
  if (!casts.empty())
    nodes.notes.push_back(
        {fmt::format("AutoCast removes {} of the author and inserts its own, so that values are rounded in other "
                     "places; --to onnx keeps the author's",
                     counted(std::ssize(casts), "Cast"))});
  std::vector<std::string> always;
  for (const LoweredNode& node : nodes.narrow)
    if (node.op == "Upsample" || node.op == "NonMaxSuppression" || node.op == "Celu") always.push_back(node.shown);
  if (!always.empty())
    nodes.notes.push_back({"AutoCast keeps these nodes in float32, though the plan lowers them: " + joined(always)});
}

/// Writes a Python script with options for NVIDIA ModelOpt's AutoCast: `NODES_TO_EXCLUDE` contains regular expressions,
/// each of which matches the name of one node that stays in float32. The script, run on the model, writes a typed
/// network.
Result<Exported> writeModelopt(const Plan& plan, const ExportOptions& options) {
  TRY(checkScriptName(options.path, {"modelopt", "onnx"}));
  LoweredNodes nodes = TRY(loweredNodes(plan, kModelopt, options.stop));
  TRY(checkNodeNames(nodes, kModelopt));
  addAutocastNotes(nodes);
  std::string text = fmt::format(
      "# Options of NVIDIA ModelOpt's AutoCast (nvidia-modelopt 0.47): {} of the main graph stay in float32, {} go to "
      "{}.\n"
      "# What it writes is a typed network for TensorRT 10.12 on, 11 and others. Use:\n"
      "#   python THIS_FILE MODEL.onnx OUT.onnx\n{}",
      counted(std::ssize(nodes.wide), "node"), nodes.narrow.size(), name(nodes.low), asComments(nodes.notes));
  text += "import math\nimport sys\n\n";
  text += fmt::format("LOW_PRECISION_TYPE = \"{}\"\n", nodes.low == DataType::F16 ? "fp16" : "bf16");
  text += "# Each matches the name of one node: AutoCast's re.match is anchored at the beginning alone.\n";
  text += pythonList("NODES_TO_EXCLUDE", excludedExpressions(nodes)) + std::string(kModeloptFunctions);
  return Exported{std::move(text), std::move(nodes.notes)};
}

}  // namespace

extern const ExportRow kModeloptRow{
    .readers = "NVIDIA ModelOpt's AutoCast",
    .contents = "a script: regular expressions, each of which matches one node that stays in float32",
    .exactness =
        "names are exact; AutoCast removes the author's Casts, inserts its own, and keeps `Upsample`, "
        "`NonMaxSuppression` and `Celu` in float32"};

extern const Exporter kModeloptExporter{
    .name = "modelopt",
    .title = "Options of ModelOpt's AutoCast",
    .extension = "py",
    .summary =
        "a script that has NVIDIA ModelOpt's AutoCast write the plan's floats into the network (TensorRT 10.12 on)",
    .write = writeModelopt};

}  // namespace fusescope
