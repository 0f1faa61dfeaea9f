#include "compilers/torch/program_request.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "compilers/probed/handed_values.h"
#include "frontends/torch/pt2_importer.h"

namespace fusescope::torch_compiler {
namespace {

namespace fs = std::filesystem;

constexpr const char* kMode = "mode";
constexpr const char* kDevice = "device";
constexpr const char* kHalf = "half";
constexpr const char* kProgram = "program";
constexpr const char* kTf32 = "tf32";
constexpr const char* kInductor = "inductor";
constexpr const char* kProgramFile = "program.pt2";

/// What the plan says of an option, else what it is where nothing is said.
std::string optionOf(const Plan& plan, std::string_view name) {
  const auto& given = plan.options.compilerOptions;
  if (const auto found = given.find(std::string(name)); found != given.end()) return found->second;
  const auto options = compilerOptions();
  return std::ranges::find(options, name, &CompilerOption::name)->initial;
}

/// Beside the network, where no whole path is given.
Result<fs::path> programOf(const Plan& plan) {
  const fs::path model = plan.model->path;
  const std::string given = optionOf(plan, kProgram);
  fs::path path = given.empty() ? fs::path(model).replace_extension(".pt2") : model.parent_path() / given;
  if (std::error_code none; fs::is_regular_file(path, none)) return path;
  return Diagnostic{
      .message = given.empty() ? "torch runs the exported program (.pt2) of a network, and there is none beside it"
                               : "there is no exported program at this path",
      .where = {.file = path.string(), .attribute = kProgram},
      .help =
          "torch.export.save writes one. Where it lies elsewhere: --compiler-option program=PATH; PATH begins at "
          "the folder of the network."};
}

/// Only whole networks have an exported program.
Status checkWhole(const Plan& plan) {
  const Model& model = *plan.model;
  std::string why;
  if (model.unquantized != nullptr)
    why = "and the codes of a quantised plan are not in it";
  else if (model.files.empty() || model.contentHash == Hash128() || plan.segments.size() > 1)
    why = "and a part of a network has none";
  if (why.empty()) return Done{};
  return Diagnostic{.message = "torch runs a network by its exported program, " + why,
                    .where = {.file = model.path, .attribute = "--compiler"},
                    .help = "Plan it without what parts it: fallbacks, or int8 by ranges."};
}

Json extentsOf(const onnxlib::FileType& type) {
  if (!type.ranked) return nullptr;
  Json dims = Json::array();
  for (const onnxlib::FileDim& dim : type.dims) dims.push_back(dim.size < 0 ? Json(nullptr) : Json(dim.size));
  return dims;
}

/// The inputs or outputs `names` of a network, whose file has them as `values`.
class Tensors {
 public:
  Tensors(const HandedNetwork& network, const BuildOptions& options) : m_network(network), m_options(options) {}

  Json listed(const NamesInFile& names, const std::vector<onnxlib::FileValue>& values, bool areInputs) const {
    Json list = Json::array();
    for (const auto& [plan, file] : names) {
      const auto value = std::ranges::find(values, file, &onnxlib::FileValue::name);
      const auto called = m_network.namesInFile.find(file);
      Json entry{{"name", file},
                 {"called", called == m_network.namesInFile.end() ? plan : called->second},
                 {"type", name(value->type.dtype)},
                 {"dims", extentsOf(value->type)}};
      if (areInputs) entry["extents"] = compiledFor(plan);
      list.push_back(std::move(entry));
    }
    return list;
  }

 private:
  Json compiledFor(const std::string& input) const {
    if (const auto given = m_options.shapes.find(input); given != m_options.shapes.end()) return given->second;
    const auto& specs = m_network.plan->inputSpecs;
    const auto spec = std::ranges::find(specs, input, &InputSpec::name);
    return spec == specs.end() ? Json(nullptr) : Json(spec->opt);
  }

  const HandedNetwork& m_network;
  const BuildOptions& m_options;
};

LoweredPin lowered(const PrecisionGrant& grant, DataType half, bool isWhole) {
  LoweredPin pin{.node = grant.node, .type = grant.asked, .how = {}};
  if (half == DataType::F32) {
    pin.isExpressible = grant.asked == DataType::F32;
    pin.how = "torch calculates in the types of the exported program.";
  } else if (grant.asked == half) {
    pin.how = isWhole ? fmt::format("All floats of the exported program are of the type {}.", name(half))
                      : fmt::format("torch's autocast is asked for {}, which it chooses by operator.", name(half));
  } else {
    pin.isExpressible = false;
    pin.how = fmt::format("torch is asked for {} as a whole, and not node by node.", name(half));
  }
  return pin;
}

}  // namespace

std::vector<CompilerOption> compilerOptions() {
  return {{.name = kMode,
           .values = {"eager", kInductor},
           .initial = "eager",
           .help = "eager: operator by operator, as torch runs a program that is not compiled; inductor: by "
                   "torch.compile, which takes half a minute and needs a C++ compiler there"},
          {.name = kDevice,
           .values = {"auto", "cpu", "cuda"},
           .initial = "auto",
           .help = "what it runs on; auto: the first CUDA card where there is one, else the CPU"},
          {.name = kHalf,
           .values = {"autocast", "whole"},
           .initial = "autocast",
           .help = "how floats below f32 are asked for, if the plan has any: autocast chooses by operator; whole: all "
                   "floats of the program are of that type, as by .half(), which programs that name types cannot run"},
          {.name = kTf32,
           .values = {"default", "off"},
           .initial = "default",
           .help = "default: cards that can may multiply values of f32 in TF32, which keeps 10 bits of each mantissa, "
                   "where torch allows it by itself (in convolutions); off: nowhere"},
          {.name = kProgram,
           .values = {},
           .initial = {},
           .help = "the exported program (.pt2) of the network, from the network's folder on; nothing: the one beside "
                   "it of the same name. torch loads it, so name only a file that you trust"}};
}

bool isInductor(const Plan& plan) {
  return optionOf(plan, kMode) == kInductor;
}

DataType halfType(const Plan& plan) {
  const auto count = [&](DataType type) {
    return std::ranges::count(plan.precisionMap, type, &PrecisionGrant::granted);
  };
  const auto bf16 = count(DataType::BF16), f16 = count(DataType::F16);
  if (bf16 == 0 && f16 == 0) return DataType::F32;
  return bf16 > f16 ? DataType::BF16 : DataType::F16;
}

Result<Json> requestOptions(HandedNetwork& network, const BuildOptions& options) {
  const Plan& plan = *network.plan;
  TRY(checkWhole(plan));
  const fs::path program = TRY(programOf(plan));
  TRY(checkHandableToTorch(program));
  network.handedAs = {{kProgramFile, program}};
  const DataType half = halfType(plan);
  const std::string by = optionOf(plan, kHalf);
  network.pins.clear();
  for (const PrecisionGrant& grant : plan.precisionMap)
    if (grant.asked != DataType::Undefined) network.pins.push_back(lowered(grant, half, by == "whole"));
  const Tensors tensors(network, options);
  const onnxlib::FileGraph& file = network.file.graph;
  Json json{{kMode, optionOf(plan, kMode)},
            {kDevice, optionOf(plan, kDevice)},
            {kTf32, optionOf(plan, kTf32)},
            {"threads", options.threads},
            {"inputs", tensors.listed(handedInputs(network), file.inputs, true)},
            {"outputs", tensors.listed(handedOutputs(network), file.outputs, false)}};
  if (half != DataType::F32) {
    json["half"] = name(half);
    json["half_by"] = by;
  }
  return json;
}

}  // namespace fusescope::torch_compiler
