
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/name_hints.h"
#include "base/text.h"
#include "interchange/export_inputs.h"
#include "interchange/export_notes.h"
#include "interchange/export_row.h"
#include "interchange/exports.h"
#include "interchange/lowered_nodes.h"
#include "interchange/python_text.h"
#include "ir/graph.h"

namespace fusescope {
namespace {

constexpr std::string_view kTorchTensorrt = "--to torch-tensorrt";

/// Of one module, what its own nodes are in; those of modules within it are theirs.
struct ModuleTypes {
  std::vector<std::string> wide, narrow;  ///< nodes that calculate
};

/// A view or a move takes the type of what it moves wherever it stands: it says nothing of its module.
bool decides(const LoweredNode& node) {
  constexpr std::string_view kMoves[] = {"Cast",  "Constant", "Reshape", "Transpose", "Squeeze", "Unsqueeze", "Flatten",
                                         "Split", "Slice",    "Concat",  "Expand",    "Gather",  "Identity"};
  return std::ranges::find(kMoves, node.op) == std::end(kMoves);
}

std::map<std::string, ModuleTypes> modulesOf(const LoweredNodes& nodes) {
  std::map<std::string, ModuleTypes> modules;
  for (const LoweredNode& node : nodes.wide)
    if (decides(node)) modules[node.module].wide.push_back(node.shown);
  for (const LoweredNode& node : nodes.narrow)
    if (decides(node)) modules[node.module].narrow.push_back(node.shown);
  return modules;
}

Status checkModules(const std::map<std::string, ModuleTypes>& modules) {
  const auto outside = modules.find("");
  if (outside != modules.end() && !outside->second.wide.empty())
    return Diagnostic{.message = fmt::format("Torch-TensorRT keeps whole modules in float32, but the file does not "
                                             "name the module of {} that {} in float32",
                                             counted(std::ssize(outside->second.wide), "node"),
                                             outside->second.wide.size() == 1 ? "stays" : "stay"),
                      .where = {.node = outside->second.wide.front()},
                      .help =
                          "Export the model with torch.onnx.export(dynamo=True), which writes modules; or use --to "
                          "onnx."};
  for (const auto& [path, types] : modules) {
    if (types.wide.empty() || types.narrow.empty()) continue;
    return Diagnostic{.message = fmt::format("Torch-TensorRT keeps whole modules in float32, but in the module '{}' "
                                             "some nodes stay in float32 ({}) and others do not ({})",
                                             path, listed(types.wide), listed(types.narrow)),
                      .where = {.node = types.wide.front()},
                      .help = fmt::format("Pin all of it: --pin module:{}=f32, or use --to onnx.", path)};
  }
  return Done{};
}

constexpr std::string_view kTorchFunctions = R"python(

def settings():
    """Keyword arguments of torch_tensorrt.compile and torch_tensorrt.dynamo.compile, 2.10 on."""
    import torch

    return {
        "enable_autocast": True,
        "autocast_low_precision_type": getattr(torch, LOW_PRECISION_TYPE),
        "autocast_excluded_nodes": set(EXCLUDED_MODULES),
        "autocast_excluded_ops": set(),
        "autocast_max_output_threshold": float("inf"),
        "autocast_max_depth_of_reduction": None,
    }
)python";

constexpr std::string_view kTorchInputs = R"python(

def inputs():
    """What torch_tensorrt.compile takes as `inputs`: the extents that the plan was made for."""
    import torch
    import torch_tensorrt

    made = []
    for name, text in INPUT_EXTENTS.items():
        ranges = [[int(number) for number in part.split("..")] for part in text.split(",") if part]
        shapes = [tuple(each[min(bound, len(each) - 1)] for each in ranges) for bound in range(3)]
        made.append(torch_tensorrt.Input(name=name, min_shape=shapes[0], opt_shape=shapes[1], max_shape=shapes[2],
                                         dtype=getattr(torch, INPUT_TYPES[name])))
    return made
)python";

/// PyTorch's name of a type; empty: it has none that engines take.
std::string_view torchType(DataType type) {
  constexpr std::pair<DataType, std::string_view> kNames[] = {
      {DataType::F32, "float32"}, {DataType::F16, "float16"}, {DataType::BF16, "bfloat16"},
      {DataType::F64, "float64"}, {DataType::I64, "int64"},   {DataType::I32, "int32"},
      {DataType::I8, "int8"},     {DataType::U8, "uint8"},    {DataType::Bool, "bool"}};
  for (const auto& [known, name] : kNames)
    if (known == type) return name;
  return {};
}

/// The inputs of a network, all of them in their order, where somebody said extents; else, and where one is of a type
/// that PyTorch does not have, nothing.
std::string torchInputs(const Plan& plan) {
  std::string types = "INPUT_TYPES = {\n";
  for (const InputSpec& input : plan.inputSpecs) {
    if (torchType(input.dtype).empty()) return {};
    types += fmt::format("    {}: \"{}\",\n", pythonText(input.name), torchType(input.dtype));
  }
  if (givenInputSpecs(plan).empty()) return {};
  return pythonInputs(plan.inputSpecs) + types + "}\n" + std::string(kTorchInputs);
}

/// Writes a Python file with settings for Torch-TensorRT's autocast: `EXCLUDED_MODULES` contains regular expressions,
/// each of which matches the path of one module that stays in float32. Errors: the file names no modules, or a module
/// contains both types, which the settings cannot express.
Result<Exported> writeTorchTensorrt(const Plan& plan, const ExportOptions& options) {
  LoweredNodes nodes = TRY(loweredNodes(plan, kTorchTensorrt, options.stop));
  const auto modules = modulesOf(nodes);
  TRY(checkModules(modules));
  std::vector<std::string> excluded;
  for (const auto& [path, types] : modules)
    if (!types.wide.empty()) excluded.push_back(exactExpression(path));
  nodes.notes.push_back(
      {"Torch-TensorRT lowers a program of PyTorch, not this file: all nodes into which it decomposes a module get the "
       "module's type, and nodes outside of modules are lowered. --to onnx is exact"});
  std::string text = fmt::format(
      "# Settings of Torch-TensorRT's autocast (2.10 on; 2.10 to 2.12 need use_explicit_typing=True too): {} in "
      "float32,\n"
      "# all else in {}. Use:\n"
      "#   torch_tensorrt.compile(program, arg_inputs=inputs, **settings())\n{}",
      counted(std::ssize(excluded), "module"), name(nodes.low), asComments(nodes.notes));
  text += fmt::format("LOW_PRECISION_TYPE = \"{}\"\n", nodes.low == DataType::F16 ? "float16" : "bfloat16");
  text +=
      "# Each matches the path of one module: re.match is applied to the path of the innermost module that contains a "
      "node.\n";
  text += pythonList("EXCLUDED_MODULES", excluded) + torchInputs(plan) + std::string(kTorchFunctions);
  return Exported{std::move(text), std::move(nodes.notes)};
}

}  // namespace

extern const ExportRow kTorchTensorrtRow{
    .readers = "Torch-TensorRT's autocast, 2.10 on",
    .contents = "settings: modules that stay in float32",
    .exactness = "by module only: a module that the plan divides is refused, and the file must name modules"};

extern const Exporter kTorchTensorrtExporter{
    .name = "torch-tensorrt",
    .title = "Settings of Torch-TensorRT",
    .extension = "py",
    .summary = "settings of Torch-TensorRT's autocast: the modules that stay in float32",
    .write = writeTorchTensorrt};

}  // namespace fusescope
