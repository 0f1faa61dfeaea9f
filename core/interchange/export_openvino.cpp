
#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "calibration/products.h"
#include "interchange/export_inputs.h"
#include "interchange/export_notes.h"
#include "interchange/export_row.h"
#include "interchange/exports.h"
#include "interchange/lowered_nodes.h"
#include "interchange/python_text.h"
#include "planning/kinds.h"
#include "planning/structure.h"

namespace fusescope {
namespace {

constexpr std::string_view kOpenvino = "--to openvino";

/// Operators are found by the values that they make: OpenVINO calls those that make outputs of the network otherwise
/// than the file does, and makes several of one node.
constexpr std::string_view kOpenvinoFunctions = R"python(

def operators(model, values):
    """Names of the operators that make `values` and of those without a named value that only they are made of."""
    wanted, found = set(values), {}
    for op in model.get_ordered_ops():
        made = {name for output in op.outputs() for name in output.get_names()}
        if op.get_type_name() == "Result" or not wanted & made:
            continue
        wanted -= made
        waiting = [op]
        while waiting:
            each = waiting.pop()
            if each.get_type_name() in ("Constant", "Parameter"):
                continue
            found[each.get_friendly_name()] = None
            for source in each.input_values():
                if not any(output.get_names() for output in source.get_node().outputs()):
                    waiting.append(source.get_node())
    if wanted:
        sys.exit("OpenVINO makes no operator of what makes: " + ", ".join(sorted(wanted)))
    return list(found)


def quantized(model, samples):
    """`model` in int8, calibrated by NNCF on the .npz files `samples`, without the operators that stay in floats."""
    import nncf
    import numpy

    names = operators(model, IGNORED_VALUES)
    inputs = [{name: array for name, array in numpy.load(path).items()} for path in samples]
    scope = nncf.IgnoredScope(names=names) if names else None
    kind = nncf.ModelType.TRANSFORMER if TRANSFORMER else None
    return nncf.quantize(model, nncf.Dataset(inputs), subset_size=len(inputs), ignored_scope=scope, model_type=kind)


def mark(path, names):
    """Writes rt_info `precise` into the layers of the IR: no plugin converts them to a narrower float."""
    tree, kept = ElementTree.parse(path), set(names)
    for layer in tree.getroot().find("layers"):
        if layer.get("name") not in kept:
            continue
        info = layer.find("rt_info")
        if info is None:
            info = ElementTree.Element("rt_info")
            layer.insert(0 if layer.find("data") is None else 1, info)
        ElementTree.SubElement(info, "attribute", name="precise", version="0")
        kept.discard(layer.get("name"))
    if kept:
        sys.exit("the IR has no layer: " + ", ".join(sorted(kept)))
    tree.write(path, encoding="utf-8", xml_declaration=True)


def main():
    if len(sys.argv) < 3 or (QUANTIZED and len(sys.argv) < 4):
        sys.exit(f"usage: {sys.argv[0]} MODEL.onnx OUT.xml" + (" CALIBRATION.npz..." if QUANTIZED else ""))
    import openvino

    model = openvino.Core().read_model(sys.argv[1])
RESHAPE    names = operators(model, KEPT_VALUES)
    if QUANTIZED:
        model = quantized(model, sys.argv[3:])
    model.set_rt_info(INFERENCE_PRECISION, ["runtime_options", "INFERENCE_PRECISION_HINT"])
    openvino.save_model(model, sys.argv[2], compress_to_fp16=False)
    mark(sys.argv[2], names)


if __name__ == "__main__":
    main()
)python";

/// Of a plan with inputs whose extents somebody said.
constexpr std::string_view kReshape = R"python(

def reshape(model):
    """Gives inputs their extents; that between the least and the most is no part of an IR."""
    import openvino

    shapes = {}
    for name, text in INPUT_EXTENTS.items():
        ranges = [part.split("..") for part in text.split(",")]
        shapes[name] = openvino.PartialShape([openvino.Dimension(int(each[0]), int(each[-1])) for each in ranges])
    model.reshape(shapes)
)python";

struct OpenvinoLists {
  DataType hint = DataType::F32;
  bool quantized = false;
  bool transformer = false;                ///< NNCF has patterns of its own for attention, and may fail without them
  std::vector<std::string> kept, ignored;  ///< values
  std::vector<ExportNote> notes;
};

void addValuesOf(const Graph& graph, const Node& node, std::vector<std::string>& values) {
  for (const ValueId value : node.outputs)
    if (value.valid() && !graph.value(value).name.empty()) values.push_back(graph.value(value).name);
}

/// Of a plan in int8 by ranges: which products stay in floats, and which nodes in f32 where others are narrower.
Result<OpenvinoLists> listsOfQuantized(const Plan& plan) {
  OpenvinoLists lists{.quantized = true, .notes = pinsNotHonoured(plan)};
  const auto narrow = std::ranges::find_if(plan.options.precisions, isNarrow);
  if (narrow != plan.options.precisions.end()) lists.hint = *narrow;
  lists.transformer =
      std::ranges::any_of(plan.fusedNodes, [](const FusedNode& fused) { return fused.kind == kinds::kAttention; });
  const Graph& own = *unquantized(plan.model)->graph;
  for (const NodeId id : plan.graph().order()) {
    const auto there = own.findNode(plan.graph().node(id).name);
    if (!there) continue;  // a node that puts codes on an edge
    const DataType type = plan.calculates[id.index];
    if (multiplies(own.node(*there)) && type != DataType::I8) addValuesOf(own, own.node(*there), lists.ignored);
    const NodeFacts& facts = plan.structure->facts[id.index];
    if (facts.floats && !facts.moves && type == DataType::F32 && lists.hint != DataType::F32)
      addValuesOf(own, own.node(*there), lists.kept);
  }
  lists.notes.push_back(
      {"the script does not contain the ranges of the plan: NNCF calibrates by itself, on the samples that are given "
       "to the script, and decides about additions and pools by its own rules; --to onnx writes the ranges of the "
       "plan"});
  return lists;
}

Result<OpenvinoLists> listsOf(const Plan& plan, const StopToken& stop) {
  if (plan.model->unquantized != nullptr) return listsOfQuantized(plan);
  LoweredNodes nodes = TRY(loweredNodes(plan, kOpenvino, stop));
  OpenvinoLists lists{.hint = nodes.low, .notes = std::move(nodes.notes)};
  for (const LoweredNode& node : nodes.wide)
    if (node.op != "Constant") lists.kept.insert(lists.kept.end(), node.outputs.begin(), node.outputs.end());
  return lists;
}

/// Writes a Python script for OpenVINO: `INFERENCE_PRECISION`, its hint, and `KEPT_VALUES`, the results of nodes that
/// stay in float32. The script, run on the model, writes an IR in which the layers that make these values have the
/// rt_info `precise`. For a plan in int8 it contains the ignored scope of NNCF: `IGNORED_VALUES`, the results of nodes
/// that stay in floats.
Result<Exported> writeOpenvino(const Plan& plan, const ExportOptions& options) {
  TRY(checkScriptName(options.path, {"openvino", "nncf", "numpy"}));
  OpenvinoLists lists = TRY(listsOf(plan, options.stop));
  std::string text = fmt::format(
      "# The types of a plan for OpenVINO (2026.4{}): an IR whose layers that stay in float32 say so by rt_info.\n"
      "# The device takes the narrower type where it has kernels for it. Use:\n"
      "#   python THIS_FILE MODEL.onnx OUT.xml{}\n{}",
      lists.quantized ? ", with NNCF 3.4" : "", lists.quantized ? " CALIBRATION.npz..." : "", asComments(lists.notes));
  text += "import sys\nfrom xml.etree import ElementTree\n\n";
  text += fmt::format("INFERENCE_PRECISION = \"{}\"\nQUANTIZED = {}\nTRANSFORMER = {}\n", name(lists.hint),
                      lists.quantized ? "True" : "False", lists.transformer ? "True" : "False");
  text += pythonList("KEPT_VALUES", lists.kept) + pythonList("IGNORED_VALUES", lists.ignored);
  const std::string inputs = pythonInputs(givenInputSpecs(plan));
  text += inputs + (inputs.empty() ? "" : std::string(kReshape));
  std::string functions(kOpenvinoFunctions);
  constexpr std::string_view kPlace = "RESHAPE";
  functions.replace(functions.find(kPlace), kPlace.size(), inputs.empty() ? "" : "    reshape(model)\n");
  text += functions;
  return Exported{std::move(text), std::move(lists.notes)};
}

}  // namespace

extern const ExportRow kOpenvinoRow{
    .readers = "OpenVINO",
    .contents =
        "a script that writes an IR whose operators have the rt_info `precise`, with the hint of the narrower type; "
        "for int8, the ignored scope of NNCF",
    .exactness =
        "nodes are found by the values that their operators produce, since names differ; the device uses the "
        "narrower type where it has kernels"};

extern const Exporter kOpenvinoExporter{
    .name = "openvino",
    .title = "Script for OpenVINO",
    .extension = "py",
    .summary = "a script that makes OpenVINO's IR with the plan's types as rt_info; of int8 with NNCF's ignored scope",
    .write = writeOpenvino};

}  // namespace fusescope
