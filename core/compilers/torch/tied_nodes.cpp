#include "compilers/torch/tied_nodes.h"

#include <algorithm>

#include "compilers/torch/node_ties.h"
#include "ir/graph.h"

namespace fusescope::torch_compiler {

namespace {

/// Returns "linear" for "aten.linear.default".
std::string kindOfTarget(std::string_view target) {
  const std::size_t dot = target.find('.');
  if (dot == std::string_view::npos) return std::string(target);
  target.remove_prefix(dot + 1);
  return std::string(target.substr(0, target.find('.')));
}

/// Returns the first float type in a list of types as the probe writes them; Undefined if there is none.
DataType floatOf(const std::vector<std::string>& types) {
  for (const std::string& text : types)
    if (const auto type = dataTypeFromName(text); type && isFloat(*type)) return *type;
  return DataType::Undefined;
}

}  // namespace

void addAll(const KnownNodes& nodes, Certainty atMost, KnownNodes& into) {
  for (const auto& [node, certainty] : nodes) {
    const Certainty known = weaker(certainty, atMost);
    const auto [before, isNew] = into.emplace(node, known);
    if (!isNew) before->second = std::min(before->second, known);
  }
}

std::vector<ValueId> outputsOf(const Graph& graph, const KnownNodes& nodes) {
  std::vector<ValueId> values;
  for (const auto& [node, certainty] : nodes)
    for (const ValueId output : graph.node(node).outputs) {
      if (!output.valid()) continue;
      const bool isRead =
          std::ranges::any_of(graph.value(output).consumers, [&](NodeId reader) { return !nodes.contains(reader); });
      if (isRead || std::ranges::count(graph.outputs(), output) > 0) values.push_back(output);
    }
  return values;
}

ReadBackKernel operatorKernel(std::string name, std::string_view target, const std::vector<std::string>& types,
                              const KnownNodes& nodes, const Graph& graph) {
  ReadBackKernel kernel{.name = std::move(name), .kind = kindOfTarget(target)};
  kernel.nodes.assign(nodes.begin(), nodes.end());
  kernel.compute = floatOf(types);
  const auto values = outputsOf(graph, nodes);
  const bool isKnown = values.size() == 1 && types.size() == 1;
  const DataType type = isKnown ? dataTypeFromName(types.front()).value_or(DataType::Undefined) : DataType::Undefined;
  for (const ValueId value : values) kernel.outputs.push_back({.value = value, .type = type, .format = {}});
  return kernel;
}

void addUntiedDecisions(const CompilerInput& network, const ProgramNetwork& tied, std::string_view who,
                        ReadBack& readBack) {
  const Cause& by = network.plan->options.compiler;
  for (const NodeId node : tied.untied)
    readBack.decisions.push_back(decide("build.not_in_program", {Subject::node(network.plan->graph().node(node).name)},
                                        by, {{"compiler", std::string(who)}}));
  readBack.decisions.push_back(decide("build.program_tied", {}, by,
                                      {{"compiler", std::string(who)},
                                       {"tied", tied.tied},
                                       {"nodes", tied.all},
                                       {"equal", tied.equalWeights},
                                       {"weights", tied.weights}}));
}

}  // namespace fusescope::torch_compiler
