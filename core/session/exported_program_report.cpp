#include "session/exported_program_report.h"

#include <fmt/format.h>

#include "frontends/torch/program_inputs.h"
#include "frontends/torch/pt2_importer.h"
#include "frontends/torch/symbolic_extents.h"

namespace fusescope {
namespace {

using torch::ExportedProgram;

Json extentsJson(const std::vector<torch::SymbolicNumber>& extents) {
  Json list = Json::array();
  for (const torch::SymbolicNumber& extent : extents) {
    const Dim dim = torch::extentOf(extent);
    list.push_back(dim.known() ? Json(dim.size) : dim.symbol.empty() ? Json() : Json(dim.symbol));
  }
  return list;
}

/// Returns the number in the form of a union: {"as_float": 3.0} becomes 3.0.
Json constantJson(const Json& constant) {
  if (!constant.is_object() || constant.size() != 1) return constant;
  const bool isNone = constant.begin().key() == "as_none";
  return isNone ? Json() : *constant.begin();
}

Json argumentsJson(const ExportedProgram& program) {
  Json list = Json::array();
  for (const torch::UserInput& input : torch::userInputsOf(program)) {
    Json json = {{"name", input.name}, {"value", input.value}, {"constant", nullptr},
                 {"type", nullptr},    {"extents", nullptr},   {"strides", nullptr}};
    const auto tensor = program.graph.tensors.find(input.value);
    if (input.isConstant) {
      json["constant"] = constantJson(input.constant);
    } else if (tensor != program.graph.tensors.end()) {
      json["type"] = name(tensor->second.type);
      json["extents"] = extentsJson(tensor->second.sizes);
      json["strides"] = extentsJson(tensor->second.strides);
    }
    list.push_back(std::move(json));
  }
  return list;
}

Json equalExtentsJson(const ExportedProgram& program) {
  Json groups = Json::array();
  for (const auto& group : torch::equalExtentsOf(program)) {
    Json axes = Json::array();
    for (const auto& [input, axis] : group) axes.push_back({{"input", input}, {"axis", axis}});
    groups.push_back(std::move(axes));
  }
  return groups;
}

Json rangesJson(const ExportedProgram& program) {
  const auto bound = [](const std::optional<std::int64_t>& number) { return number ? Json(*number) : Json(); };
  Json ranges = Json::object();
  for (const auto& [symbol, range] : program.ranges)
    ranges[symbol] = {{"min", bound(range.least)}, {"max", bound(range.most)}};
  return ranges;
}

/// Returns all modules that the author named, in order, each with its class if it was called, and the number of nodes
/// made in it and in the modules inside it.
Json modulesJson(const ExportedProgram& program) {
  struct Seen {
    std::string className;
    std::int64_t nodes = 0;
  };
  std::map<std::string, Seen> seen;
  for (const torch::ProgramNode& node : program.graph.nodes) {
    for (const torch::ModuleFrame& frame : node.modules) seen[frame.path].className = frame.className;
    std::string path = node.modules.empty() ? std::string() : node.modules.back().path;
    while (!path.empty()) {
      ++seen[path].nodes;
      const std::size_t parent = path.rfind('.');
      path.resize(parent == std::string::npos ? 0 : parent);
    }
  }
  Json list = Json::array();
  for (const std::string& path : program.modules) {
    const Seen& module = seen[path];
    list.push_back({{"path", path},
                    {"class", module.className.empty() ? Json() : Json(module.className)},
                    {"nodes", module.nodes}});
  }
  return list;
}

Json outputsJson(const ExportedProgram& program) {
  Json list = Json::array();
  for (const torch::ProgramOutput& output : program.outputs)
    list.push_back({{"kind", output.kind},
                    {"value", output.value.empty() ? Json() : Json(output.value)},
                    {"target", output.target.empty() ? Json() : Json(output.target)}});
  return list;
}

Json examplesJson(const std::map<std::string, Tensor>& examples) {
  Json list = Json::array();
  for (const auto& [input, tensor] : examples)
    list.push_back({{"name", input}, {"type", name(tensor.type())}, {"dims", tensor.dims()}});
  return list;
}

/// Returns everything about the network that torch made, except the fate of each node.
Json aboutMade(const KeptNetwork& kept) {
  Json json = {{"network", kept.network.string()}};
  json.update(toJson(kept.made));
  json.erase("nodes");
  json["node_count"] = kept.made.nodes.size();
  json["tied"] = kept.made.nodesWithKnownOrigin();
  return json;
}

}  // namespace

bool isExportedProgram(const Model& model) {
  return model.format == kExportedProgramFormat;
}

bool isOfExportedProgram(const Model& model) {
  return isExportedProgram(model) || !model.network.empty();
}

std::string needsTorchInWords(const std::filesystem::path& path) {
  return message(needsTorch(path));
}

Result<Json> exportedProgramJson(const std::filesystem::path& path) {
  const ExportedProgramFacts facts = TRY(readExportedProgram(path));
  const ExportedProgram& program = facts.program;
  Json json = {{"container", name(facts.container)},
               {"torch_version", program.torchVersion},
               {"schema_version", fmt::format("{}.{}", program.schemaMajor, program.schemaMinor)},
               {"verifiers", program.verifiers}};
  json["arguments"] = argumentsJson(program);
  json["results"] = outputsJson(program);
  json["equal_extents"] = equalExtentsJson(program);
  json["ranges"] = rangesJson(program);
  json["guards"] = program.guards;
  json["examples"] = examplesJson(facts.examples);
  json["examples_missing"] = facts.examplesMissing.empty() ? Json() : Json(facts.examplesMissing);
  json["modules"] = modulesJson(program);
  const auto kept = findKeptNetworks(TRY(programHash(*TRY(MappedFile::open(path)))));
  json["made"] = kept.newest ? aboutMade(*kept.newest) : Json();
  json["made_unusable"] = kept.unusable;
  return json;
}

Json networkOfProgramJson(const std::filesystem::path& path, const NetworkOfProgram& made) {
  Json json = {{"format", "fusescope.import"}, {"version", 1}, {"program", path.string()}, {"is_new", made.isNew}};
  json.update(aboutMade(made.kept));
  json["nodes"] = toJson(made.kept.made)["nodes"];
  return json;
}

}  // namespace fusescope
