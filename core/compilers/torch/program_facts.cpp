#include "compilers/torch/program_facts.h"

#include <algorithm>

#include "base/json_fields.h"
#include "base/untrusted_json.h"

namespace fusescope::torch_compiler {
namespace {

Result<NodeOrigin> originFrom(const Json& json) {
  NodeOrigin origin;
  JsonFields fields(json);
  fields.require("name").read("name", origin.name).read("target", origin.target).read("module", origin.module);
  fields.read("trace", origin.trace);
  return fields.result(std::move(origin));
}

Result<ProgramNode> nodeFrom(const Json& json) {
  ProgramNode node{.origin = TRY(originFrom(json)), .within = {}};
  JsonFields fields(json);
  fields.read("within", node.within).read("types", node.types).read("is_view", node.isView);
  return fields.result(std::move(node));
}

Result<std::pair<std::string, ProgramWeight>> weightFrom(const Json& json) {
  std::pair<std::string, ProgramWeight> weight;
  JsonFields fields(json);
  fields.require("name").read("name", weight.first).read("type", weight.second.type).read("dims", weight.second.dims);
  fields.read("sha256", weight.second.sha256).read("transposed", weight.second.transposed);
  return fields.result(std::move(weight));
}

Result<InductorGraph> graphFrom(const Json& json) {
  InductorNames kernels, origins;
  JsonFields fields(json);
  fields.require("kernels").read("kernels", kernels).read("origins", origins);
  if (fields.error()) return *fields.error();
  return InductorGraph{.kernels = inductorKernelsOf(kernels, origins), .nodes = {}};
}

Result<Json> parsed(std::string_view text) {
  Json json = untrustedJson(text);
  if (json.is_discarded()) return Diagnostic{.message = "the file that the probe for torch wrote is not JSON"};
  return json;
}

Result<std::vector<NodeOrigin>> originsFrom(const Json& json) {
  std::vector<NodeOrigin> origins;
  if (!json.is_array()) return Diagnostic{.message = "a graph that TorchInductor received has no list of nodes"};
  for (const Json& node : json) origins.push_back(TRY(originFrom(node)));
  return origins;
}

}  // namespace

Result<ProgramFacts> programFacts(std::string_view text) {
  const Json json = TRY(parsed(text));
  ProgramFacts facts;
  std::vector<std::pair<std::string, ProgramWeight>> weights;
  JsonFields fields(json);
  fields.require("nodes").parseList("nodes", facts.nodes, nodeFrom);
  fields.require("weights").parseList("weights", weights, weightFrom);
  for (auto& [name, weight] : weights) facts.weights.insert_or_assign(name, std::move(weight));
  return fields.result(std::move(facts));
}

Result<std::vector<InductorGraph>> inductorGraphs(std::string_view text) {
  const Json json = TRY(parsed(text));
  std::vector<InductorGraph> graphs;
  std::vector<std::vector<NodeOrigin>> nodes;
  JsonFields fields(json);
  fields.require("graphs").parseList("graphs", graphs, graphFrom);
  fields.parseList("nodes", nodes, originsFrom);
  if (fields.error()) return *fields.error();
  for (std::size_t i = 0; i < std::min(graphs.size(), nodes.size()); ++i) graphs[i].nodes = std::move(nodes[i]);
  return graphs;
}

}  // namespace fusescope::torch_compiler
