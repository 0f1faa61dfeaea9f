
#include <fmt/format.h>

#include "base/shell_quoted.h"
#include "interchange/export_inputs.h"
#include "interchange/export_notes.h"
#include "interchange/export_row.h"
#include "interchange/exports.h"
#include "interchange/precision_config.h"
#include "interchange/python_text.h"
#include "interchange/source_network.h"
#include "interchange/trt_version_option.h"
#include "ir/graph.h"

namespace fusescope {
namespace {

constexpr TrtVersion kFirstPolygraphy{8, 6};  // the first with ILayer.metadata
constexpr std::size_t kLongestName = 3900;    // TensorRT cuts metadata at about 4000 characters

constexpr std::string_view kPolygraphyFunctions = R"python(

def node_names(layer):
    """Names of the ONNX nodes that a layer was made of."""
    for piece in re.split("[\x1e\x1f]", layer.metadata or ""):
        match = re.fullmatch(r"\[ONNX Layer: (.*?)( \| Local Function: .*)?\]", piece, re.DOTALL)
        if match:
            yield match.group(1)


def computes_floats(layer):
    """Layers that work on integers, booleans or shapes keep their types."""
    floats = (trt.float32, trt.float16, getattr(trt, "bfloat16", trt.float32))
    outputs = [layer.get_output(i) for i in range(layer.num_outputs)]
    return any(not tensor.is_shape_tensor and tensor.dtype in floats for tensor in outputs)


def postprocess(network):
    unmatched = set(PRECISIONS) | set(OUTPUT_TYPES)
    for index in range(network.num_layers):
        layer = network.get_layer(index)
        for name in node_names(layer):
            unmatched.discard(name)
            if not computes_floats(layer):
                continue
            if name in PRECISIONS:
                layer.precision = PRECISIONS[name]
                print(f"{layer.name}: precision {PRECISIONS[name]} (node {name})")
            if name in OUTPUT_TYPES:
                for output in range(layer.num_outputs):
                    layer.set_output_type(output, OUTPUT_TYPES[name])
                print(f"{layer.name}: output type {OUTPUT_TYPES[name]} (node {name})")
    if unmatched:
        raise RuntimeError("no layer of the network comes from these nodes: " + ", ".join(sorted(unmatched)))
)python";

std::string_view pythonType(DataType type) {
  return type == DataType::F16 ? "trt.float16" : type == DataType::BF16 ? "trt.bfloat16" : "trt.float32";
}

std::string table(std::string_view variable, const PrecisionConfig& config,
                  std::optional<DataType> NodePrecision::*type) {
  std::string text = fmt::format("{} = {{\n", variable);
  for (const auto& node : config.nodes) {
    if (node.*type) text += fmt::format("    {}: {},\n", pythonText(node.node), pythonType(*(node.*type)));
  }
  return text + "}\n";
}

/// The optimisation profile, as options of Polygraphy's command line, of the inputs whose extents somebody said.
Result<std::string> profileFlags(const Plan& plan) {
  std::string min, opt, max;
  for (const InputSpec& input : givenInputSpecs(plan)) {
    if (input.name.find('\n') != std::string::npos)
      return Diagnostic{
          .message = "the name of the input contains a line break, which a command line of Polygraphy cannot contain",
          .where = {.value = input.name}};
    const auto shape = [&](const Dims& dims) {
      return " " + shellQuoted(fmt::format("{}:[{}]", input.name, extentsBy(dims, ",")));
    };
    min += shape(input.min);
    opt += shape(input.opt);
    max += shape(input.max);
  }
  if (min.empty()) return std::string();
  return fmt::format(" --trt-min-shapes{} --trt-opt-shapes{} --trt-max-shapes{}", min, opt, max);
}

/// Writes a Python script for Polygraphy's --trt-network-postprocess-script: `postprocess(network)` sets precision and
/// output types of the layers whose metadata names a pinned node, and raises an exception if a name matched nothing.
Result<Exported> writePolygraphy(const Plan& plan, const ExportOptions& options) {
  TRY(refuseStronglyTyped(plan, "--to polygraphy"));
  const auto config = TRY(precisionConfig(plan));
  if (const std::string version = options.text(kTrtVersionOption.name); !version.empty()) {
    TRY(checkTrtVersion(config, TRY(parseTrtVersion(version)), kFirstPolygraphy, "--to polygraphy"));
  }
  for (const auto& node : config.nodes) {
    if (node.node.size() > kLongestName) {
      return Diagnostic{.message = "the name is too long for TensorRT's metadata",
                        .where = {.node = node.node},
                        .help = "Give the node a shorter name."};
    }
  }
  std::string flags;
  if (config.usesF16) flags += " --fp16";
  if (config.usesBF16) flags += " --bf16";
  const std::string workspace = workspaceMiB(plan);
  if (!workspace.empty()) flags += " --pool-limit workspace:" + workspace + "M";
  flags += TRY(profileFlags(plan));
  std::vector<ExportNote> notes = tensorrtNotes(plan);
  for (ExportNote& note : notesOnAssumedInputs(plan)) notes.push_back(std::move(note));
  std::string text = fmt::format(
      "# Layer precisions for weakly typed TensorRT networks (8.6 to 10.16{}). Use:\n"
      "#   polygraphy convert {} --trt-network-postprocess-script THIS_FILE{}{} -o OUT.engine\n",
      config.usesBF16 ? "; bf16 needs 9.0" : "", shellQuoted(TRY(networkForTools(plan, options.stop))), flags,
      config.nodes.empty() ? std::string() : fmt::format(" --precision-constraints {}", name(config.strictness)));
  if (!workspace.empty()) text += "# The plan allows " + workspace + " MiB of workspace.\n";
  text += asComments(notes);
  text += "import re\n\nimport tensorrt as trt\n\n";
  text += table("PRECISIONS", config, &NodePrecision::compute);
  text += table("OUTPUT_TYPES", config, &NodePrecision::output);
  text += kPolygraphyFunctions;
  return Exported{std::move(text), std::move(notes)};
}

}  // namespace

extern const ExportRow kPolygraphyRow{.readers = "Polygraphy, TensorRT 8.6 to 10.16",
                                      .contents = "a network script that finds layers by their metadata",
                                      .exactness = "as `trtexec`, but every name can be expressed"};

extern const Exporter kPolygraphyExporter{
    .name = "polygraphy",
    .title = "Script of Polygraphy",
    .extension = "py",
    .summary = "a Polygraphy network script that finds layers by their metadata (TensorRT 8.6 to 10)",
    .write = writePolygraphy,
    .options = {&kTrtVersionOption}};

}  // namespace fusescope
