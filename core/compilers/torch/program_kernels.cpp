#include "compilers/torch/program_kernels.h"

#include <algorithm>
#include <string_view>

#include "compilers/torch/node_ties.h"
#include "compilers/torch/tied_nodes.h"

namespace fusescope::torch_compiler {
namespace {

constexpr const char* kTitle = "torch";

/// "triton_poi", "cpp_fused"; of a kernel of a library its name: "addmm" of "extern_kernels.addmm:2".
std::string kindOfInductor(std::string_view name) {
  name = name.substr(0, name.rfind(':'));
  for (const std::string_view known :
       {"triton_poi", "triton_red", "triton_per", "triton_tem", "triton_for", "cpp_fused"})
    if (name.starts_with(known)) return std::string(known);
  if (name.ends_with(".default")) name.remove_suffix(std::string_view(".default").size());
  const std::size_t dot = name.rfind('.');
  return std::string(dot == std::string_view::npos ? name : name.substr(dot + 1));
}

/// Of those without a kernel: what only views were made of is a view.
void tellViews(const ProgramFacts& program, const ProgramNetwork& tied, ReadBack& told) {
  std::set<NodeId> inKernels;
  for (const ReadBackKernel& kernel : told.kernels)
    for (const auto& [node, certainty] : kernel.nodes) inKernels.insert(node);
  for (std::size_t i = 0; i < program.nodes.size(); ++i)
    for (const auto& [node, certainty] : tied.nodes[i])
      if (program.nodes[i].isView && !inKernels.contains(node)) told.fates.emplace(node, Fate::View);
}

/// What TorchInductor was given may have other names than the program: the program's nodes by their names there.
std::map<std::string_view, Tie> tiesByName(const InductorGraph& graph, const ProgramFacts& program) {
  std::vector<NodeOrigin> all;
  for (const ProgramNode& node : program.nodes) all.push_back(node.origin);
  const auto ties = tiesOf(graph.nodes, all);
  std::map<std::string_view, Tie> byName;
  for (std::size_t i = 0; i < ties.size(); ++i)
    if (ties[i]) byName.emplace(graph.nodes[i].name, *ties[i]);
  return byName;
}

void tellShared(const HandedNetwork& network, ReadBack& told) {
  std::map<NodeId, std::int64_t> times;
  for (const ReadBackKernel& kernel : told.kernels)
    for (const auto& [node, certainty] : kernel.nodes) ++times[node];
  for (ReadBackKernel& kernel : told.kernels)
    for (auto& [node, certainty] : kernel.nodes)
      if (times[node] > 1) certainty = weaker(certainty, Certainty::Derived);
  for (const auto& [node, kernels] : times)
    if (kernels > 1)
      told.decisions.push_back(decide("build.shares_kernels", {Subject::node(network.plan->graph().node(node).name)},
                                      network.plan->options.compiler, {{"compiler", kTitle}, {"kernels", kernels}}));
}

}  // namespace

ReadBack eagerKernels(const HandedNetwork& network, const ProgramFacts& program, const ProgramNetwork& tied) {
  ReadBack told;
  std::map<std::string_view, KnownNodes> inside;
  for (std::size_t i = 0; i < program.nodes.size(); ++i)
    if (const ProgramNode& node = program.nodes[i]; !node.within.empty())
      addAll(tied.nodes[i], Certainty::Named, inside[node.within]);
  for (std::size_t i = 0; i < program.nodes.size(); ++i) {
    const ProgramNode& node = program.nodes[i];
    if (!node.within.empty() || node.isView || node.types.empty()) continue;
    KnownNodes nodes = tied.nodes[i];
    if (const auto inner = inside.find(node.origin.name); inner != inside.end())
      addAll(inner->second, Certainty::Named, nodes);
    ReadBackKernel kernel{.name = node.origin.name, .kind = kindOfTarget(node.origin.target)};
    kernel.compute = floatOf(node.types);
    const auto values = leaving(network.plan->graph(), nodes);
    for (const ValueId value : values)
      kernel.outputs.push_back({.value = value,
                                .type = values.size() == 1 && node.types.size() == 1
                                            ? dataTypeFromName(node.types.front()).value_or(DataType::Undefined)
                                            : DataType::Undefined,
                                .format = {}});
    kernel.nodes.assign(nodes.begin(), nodes.end());
    told.kernels.push_back(std::move(kernel));
  }
  tellViews(program, tied, told);
  tellUntied(network, tied, kTitle, told);
  return told;
}

ReadBack inductorKernels(const HandedNetwork& network, const ProgramFacts& program, const ProgramNetwork& tied,
                         std::span<const InductorGraph> graphs) {
  ReadBack told;
  for (const InductorGraph& graph : graphs) {
    const auto known = tiesByName(graph, program);
    for (const InductorKernel& made : graph.kernels) {
      KnownNodes nodes;
      for (const std::string& origin : made.origins)
        if (const auto tie = known.find(origin); tie != known.end())
          addAll(tied.nodes[tie->second.node], tie->second.certainty, nodes);
      ReadBackKernel kernel{.name = made.name, .kind = kindOfInductor(made.name)};
      kernel.nodes.assign(nodes.begin(), nodes.end());
      told.kernels.push_back(std::move(kernel));
    }
  }
  tellShared(network, told);
  tellViews(program, tied, told);
  tellUntied(network, tied, kTitle, told);
  return told;
}

}  // namespace fusescope::torch_compiler
