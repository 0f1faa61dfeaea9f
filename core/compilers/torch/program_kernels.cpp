#include "compilers/torch/program_kernels.h"

#include <algorithm>
#include <string_view>

#include "base/sort_distinct.h"
#include "base/text.h"
#include "compilers/torch/node_ties.h"
#include "compilers/torch/tied_nodes.h"
#include "frontends/torch/pt2_importer.h"

namespace fusescope::torch_compiler {
namespace {

constexpr const char* kTitle = "torch";

/// Returns the kind of a kernel: "triton_poi" or "cpp_fused", or the name for a kernel of a library: "addmm" for
/// "extern_kernels.addmm:2" and for "aoti_torch_cpu_addmm_out:2", as packages name it.
std::string kindOfInductor(std::string_view name) {
  name = name.substr(0, name.rfind(':'));
  for (const std::string_view packaged : {"aoti_torch_cpu_", "aoti_torch_cuda_"})
    if (name.starts_with(packaged)) {
      name.remove_prefix(packaged.size());
      if (name.ends_with("_out")) name.remove_suffix(std::string_view("_out").size());
      return std::string(name);
    }
  for (const std::string_view known :
       {"triton_poi", "triton_red", "triton_per", "triton_tem", "triton_for", "cpp_fused"})
    if (name.starts_with(known)) return std::string(known);
  if (name.ends_with(".default")) name.remove_suffix(std::string_view(".default").size());
  const std::size_t dot = name.rfind('.');
  return std::string(dot == std::string_view::npos ? name : name.substr(dot + 1));
}

/// Marks nodes without a kernel from which only views were made as views.
void addViewFates(const ProgramFacts& program, const ProgramNetwork& tied, ReadBack& readBack) {
  std::set<NodeId> inKernels;
  for (const ReadBackKernel& kernel : readBack.kernels)
    for (const auto& [node, certainty] : kernel.nodes) inKernels.insert(node);
  for (std::size_t i = 0; i < program.nodes.size(); ++i)
    for (const auto& [node, certainty] : tied.nodes[i])
      if (program.nodes[i].isView && !inKernels.contains(node)) readBack.fates.emplace(node, Fate::View);
}

/// Returns the program's nodes by their names in the graph that TorchInductor received, which may differ from those in
/// the program.
std::map<std::string_view, Tie> tiesByName(const InductorGraph& graph, const ProgramFacts& program) {
  std::vector<NodeOrigin> all;
  for (const ProgramNode& node : program.nodes) all.push_back(node.origin);
  const auto ties = tiesOf(graph.nodes, all);
  std::map<std::string_view, Tie> byName;
  for (std::size_t i = 0; i < ties.size(); ++i)
    if (ties[i]) byName.emplace(graph.nodes[i].name, *ties[i]);
  return byName;
}

void addSharedKernels(const Graph& graph, const Cause& by, ReadBack& readBack) {
  std::map<NodeId, std::int64_t> times;
  for (const ReadBackKernel& kernel : readBack.kernels)
    for (const auto& [node, certainty] : kernel.nodes) ++times[node];
  for (ReadBackKernel& kernel : readBack.kernels)
    for (auto& [node, certainty] : kernel.nodes)
      if (times[node] > 1) certainty = weaker(certainty, Certainty::Derived);
  for (const auto& [node, kernels] : times)
    if (kernels > 1)
      readBack.decisions.push_back(decide("build.shares_kernels", {Subject::node(graph.node(node).name)}, by,
                                          {{"compiler", kTitle}, {"kernels", kernels}}));
}

ReadBackKernel kernelOf(const InductorKernel& made, const KnownNodes& nodes, const Graph& graph) {
  ReadBackKernel kernel{.name = made.name, .kind = kindOfInductor(made.name)};
  kernel.nodes.assign(nodes.begin(), nodes.end());
  if (made.output == DataType::Undefined) return kernel;
  if (isFloat(made.output)) kernel.compute = made.output;
  if (const auto values = outputsOf(graph, nodes); values.size() == 1)
    kernel.outputs.push_back({.value = values.front(), .type = made.output, .format = {}});
  return kernel;
}

/// Returns the first few names for a sentence.
std::string firstOf(std::vector<std::string> names) {
  constexpr std::size_t kMost = 8;
  if (names.size() <= kMost) return joined(names);
  names.resize(kMost);
  return joined(names) + ", …";
}

/// Returns the nodes of the plan by the node of the exported program from which they were made.
std::map<std::string_view, KnownNodes> nodesOfProgram(const Plan& plan) {
  const Model& model = *unquantized(plan.model);
  const bool isProgram = model.format == kExportedProgramFormat && model.network.empty();
  std::map<std::string_view, KnownNodes> byName;
  for (const NodeId node : plan.graph().order())
    for (const OriginId origin : plan.graph().node(node).origins) {
      const Origin& from = model.origins[origin.index];
      const std::string& name = isProgram ? from.name : from.programNode;
      if (!name.empty()) byName[name].emplace(node, Certainty::Named);
    }
  return byName;
}

}  // namespace

ReadBack eagerKernels(const CompilerInput& network, const ProgramFacts& program, const ProgramNetwork& tied) {
  ReadBack readBack;
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
    readBack.kernels.push_back(
        operatorKernel(node.origin.name, node.origin.target, node.types, nodes, network.plan->graph()));
  }
  addViewFates(program, tied, readBack);
  addUntiedDecisions(network, tied, kTitle, readBack);
  return readBack;
}

ReadBack inductorKernels(const CompilerInput& network, const ProgramFacts& program, const ProgramNetwork& tied,
                         std::span<const InductorGraph> graphs) {
  ReadBack readBack;
  for (const InductorGraph& graph : graphs) {
    const auto known = tiesByName(graph, program);
    for (const InductorKernel& made : graph.kernels) {
      KnownNodes nodes;
      for (const std::string& origin : made.origins)
        if (const auto tie = known.find(origin); tie != known.end())
          addAll(tied.nodes[tie->second.node], tie->second.certainty, nodes);
      readBack.kernels.push_back(kernelOf(made, nodes, network.plan->graph()));
    }
  }
  addSharedKernels(network.plan->graph(), network.plan->options.compiler, readBack);
  addViewFates(program, tied, readBack);
  addUntiedDecisions(network, tied, kTitle, readBack);
  return readBack;
}

ReadBack kernelsInFile(const Plan& plan, const InductorBuild& build, const std::string& file) {
  const auto known = nodesOfProgram(plan);
  ReadBack readBack{.compiler = {.name = "torch", .options = {{"mode", "inductor"}}}};
  Placement placement{.layers = std::ssize(build.kernels), .files = {file}, .device = build.device};
  std::vector<std::string> unknown;
  for (const InductorKernel& made : build.kernels) {
    KnownNodes nodes;
    for (const std::string& origin : made.origins)
      if (const auto of = known.find(origin); of != known.end())
        addAll(of->second, Certainty::Named, nodes);
      else
        unknown.push_back(origin);
    readBack.kernels.push_back(kernelOf(made, nodes, plan.graph()));
    placement.placed += nodes.empty() ? 0 : 1;
    if (nodes.empty())
      placement.unplaced.push_back({.layer = made.name,
                                    .why = made.origins.empty() ? "the file names no node from which it was made"
                                                                : "the network has no node that was made from " +
                                                                      firstOf(made.origins) + " of the program"});
  }
  addSharedKernels(plan.graph(), "torch", readBack);
  sortDistinct(unknown);
  if (!unknown.empty())
    readBack.decisions.push_back(
        decide("build.origins_unknown", {}, "torch", {{"count", std::ssize(unknown)}, {"nodes", firstOf(unknown)}}));
  readBack.placement = std::move(placement);
  return readBack;
}

}  // namespace fusescope::torch_compiler
