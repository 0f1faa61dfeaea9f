#include "compilers/torch/handed_program.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "compilers/probed/handed_values.h"
#include "frontends/torch/pt2_importer.h"

namespace fusescope::torch_compiler {
namespace {

namespace fs = std::filesystem;

constexpr const char* kProgram = "program";
constexpr const char* kProgramFile = "program.pt2";

/// Returns the path of the program, which is beside the network unless an absolute path is given.
Result<fs::path> programOf(const Plan& plan, std::string_view who) {
  const fs::path model = plan.model->path;
  const std::string given = optionOf(plan, {programOption(who)}, kProgram);
  fs::path path = given.empty() ? fs::path(model).replace_extension(".pt2") : model.parent_path() / given;
  if (std::error_code none; fs::is_regular_file(path, none)) return path;
  return Diagnostic{
      .message =
          given.empty()
              ? fmt::format("{} needs the exported program (.pt2) of a network, and there is none beside the network",
                            who)
              : "there is no exported program at this path",
      .where = {.file = path.string(), .attribute = kProgram},
      .help =
          "torch.export.save writes one. If it is elsewhere, give --compiler-option program=PATH; PATH is relative to "
          "the folder of the network."};
}

/// Returns an error for a part of a network, because only whole networks have an exported program.
Status checkWhole(const Plan& plan, std::string_view who) {
  const Model& model = *plan.model;
  std::string why;
  if (model.unquantized != nullptr)
    why = "which does not contain the codes of a quantised plan";
  else if (model.files.empty() || model.contentHash == Hash128() || plan.segments.size() > 1)
    why = "and a part of a network has no exported program";
  if (why.empty()) return Done{};
  return Diagnostic{.message = fmt::format("{} compiles the exported program of a network, {}", who, why),
                    .where = {.file = model.path, .attribute = "--compiler"},
                    .help = "Plan the network as a whole, without fallbacks, splits and int8 by ranges."};
}

/// Checks the exported program. Errors name the option that gives it, because no part of the network is the cause.
Status checkHandable(const fs::path& program) {
  const Status handable = checkHandableToTorch(program);
  if (handable.ok()) return Done{};
  Diagnostic error = handable.error();
  if (error.where.attribute.empty()) error.where.attribute = kProgram;
  return error;
}

Json extentsOf(const onnxlib::FileType& type) {
  if (!type.ranked) return nullptr;
  Json dims = Json::array();
  for (const onnxlib::FileDim& dim : type.dims) dims.push_back(dim.size < 0 ? Json(nullptr) : Json(dim.size));
  return dims;
}

/// The inputs or outputs `names` of a network, which are `values` in its file.
class Tensors {
 public:
  Tensors(const CompilerInput& network, const BuildOptions& options) : m_network(network), m_options(options) {}

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

  const CompilerInput& m_network;
  const BuildOptions& m_options;
};

}  // namespace

CompilerOption programOption(std::string_view who) {
  return {.name = kProgram,
          .values = {},
          .initial = {},
          .help = fmt::format(
              "the path of the exported program (.pt2), relative to the folder of the network; without this "
              "option, the program in that folder that has the name of the network. {} loads it, so name only a file "
              "that you trust",
              who)};
}

std::string optionOf(const Plan& plan, const std::vector<CompilerOption>& options, std::string_view name) {
  const auto& given = plan.options.compilerOptions;
  if (const auto found = given.find(std::string(name)); found != given.end()) return found->second;
  return std::ranges::find(options, name, &CompilerOption::name)->initial;
}

Result<Json> handProgram(CompilerInput& network, const BuildOptions& options, std::string_view who) {
  const Plan& plan = *network.plan;
  TRY(checkWhole(plan, who));
  const fs::path program = TRY(programOf(plan, who));
  TRY(checkHandable(program));
  network.replacementFiles = {{kProgramFile, program}};
  const Tensors tensors(network, options);
  const onnxlib::FileGraph& file = network.file.graph;
  return Json{{"inputs", tensors.listed(handedInputs(network), file.inputs, true)},
              {"outputs", tensors.listed(handedOutputs(network), file.outputs, false)}};
}

}  // namespace fusescope::torch_compiler
