#include "tests/openvino/openvino_networks.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <set>

#include "base/elapsed.h"
#include "base/files.h"
#include "compilers/openvino/layer_kinds.h"
#include "compilers/openvino/layer_tensors.h"
#include "tests/support/told_networks.h"

namespace fusescope::test {
namespace {

std::map<NodeId, std::vector<std::size_t>> kernelsByNode(const ReadBack& told) {
  std::map<NodeId, std::vector<std::size_t>> kernels;
  for (std::size_t i = 0; i < told.kernels.size(); ++i)
    for (const auto& [node, certainty] : told.kernels[i].nodes) kernels[node].push_back(i);
  return kernels;
}

std::string fatesProblem(const ReadNetwork& network, const std::map<NodeId, std::vector<std::size_t>>& kernels) {
  for (const NodeId id : network.plan->graph().order()) {
    const bool isHeld = kernels.contains(id), isDisclosed = network.told.fates.contains(id);
    if (isHeld == isDisclosed)
      return fmt::format("the node {} has {}", network.plan->graph().node(id).name, isHeld ? "two fates" : "no fate");
  }
  return {};
}

/// A kernel's name begins with the type of its layer.
std::string workProblem(const ReadNetwork& network) {
  for (const ReadBackKernel& kernel : network.told.kernels) {
    ExecutionLayer layer;
    layer.type = kernel.name.substr(0, kernel.name.find('_'));
    for (const auto& [id, certainty] : kernel.nodes) {
      const Node& node = network.plan->graph().node(id);
      if (!canHold(layer, node)) return fmt::format("{} cannot do what {} does, a {}", kernel.name, node.name, node.op);
    }
  }
  return {};
}

/// What is made by nodes that only kernels after `last` hold.
bool isMadeLater(const ReadNetwork& network, const std::map<NodeId, std::vector<std::size_t>>& kernels, ValueId value,
                 std::size_t last) {
  const NodeId producer = network.plan->graph().value(value).producer;
  const auto holders = producer.valid() ? kernels.find(producer) : kernels.end();
  return holders != kernels.end() && holders->second.front() > last;
}

std::string orderProblem(const ReadNetwork& network, const std::map<NodeId, std::vector<std::size_t>>& kernels) {
  for (std::size_t i = 0; i < network.told.kernels.size(); ++i) {
    const ReadBackKernel& kernel = network.told.kernels[i];
    for (const KernelValue& input : kernel.inputs)
      if (isMadeLater(network, kernels, input.value, i))
        return fmt::format("{} reads {}, which a later kernel makes", kernel.name,
                           network.plan->graph().value(input.value).name);
    for (const KernelValue& output : kernel.outputs)
      if (isMadeLater(network, kernels, output.value, i))
        return fmt::format("{} writes {}, which a later kernel makes", kernel.name,
                           network.plan->graph().value(output.value).name);
  }
  return {};
}

/// Returns the layers that are kernels, in the order of the kernels.
std::vector<const ExecutionLayer*> kernelLayers(const ReadNetwork& network) {
  const std::vector<LayerRole> roles = layerRoles(network.execution);
  std::vector<const ExecutionLayer*> layers;
  for (std::size_t i = 0; i < roles.size(); ++i) {
    const ExecutionLayer& layer = network.execution.layers[i];
    if ((roles[i] == LayerRole::Kernel || roles[i] == LayerRole::Once) && !isView(layer)) layers.push_back(&layer);
  }
  return layers;
}

/// Returns whether the value is made by a recurrent node and the port has its axes in another order. OpenVINO
/// calculates such nodes with the batch first, and joins the Transpose that follows with one of the file.
bool isBatchFirst(const Graph& graph, const Value& value, const ExecutionPort& port) {
  const NodeId producer = value.producer;
  const bool isRecurrent = producer.valid() && (graph.node(producer).is("LSTM") || graph.node(producer).is("GRU") ||
                                                graph.node(producer).is("RNN"));
  const auto extents = value.type.shape.fixed();
  return isRecurrent && extents && std::ranges::is_permutation(port.extents, *extents);
}

/// Compares the extents of ports and values. Where the reader knew no value for a port, it is not known which port each
/// value is, and nothing is compared.
std::string extentsProblem(const Graph& graph, const std::string& kernel, const std::vector<ExecutionPort>& ports,
                           const std::vector<KernelValue>& values) {
  if (ports.size() != values.size()) return {};
  for (std::size_t i = 0; i < ports.size(); ++i) {
    if (!values[i].value.valid()) continue;
    const Value& value = graph.value(values[i].value);
    if (haveSameExtents(ports[i].extents, value) || isBatchFirst(graph, value, ports[i])) continue;
    return fmt::format("{} has {} as [{}], which is {}", kernel, value.name, fmt::join(ports[i].extents, ", "),
                       value.type.text());
  }
  return {};
}

std::string extentsProblem(const ReadNetwork& network, const std::vector<const ExecutionLayer*>& layers) {
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const ReadBackKernel& kernel = network.told.kernels[i];
    const Graph& graph = network.plan->graph();
    for (auto problem : {extentsProblem(graph, kernel.name, layers[i]->inputs, kernel.inputs),
                         extentsProblem(graph, kernel.name, layers[i]->outputs, kernel.outputs)})
      if (!problem.empty()) return problem;
  }
  return {};
}

/// Returns the first node that is said to be named by a layer that has the name of no operator with a result of it.
std::string namesProblem(const ReadNetwork& network, const std::vector<const ExecutionLayer*>& layers) {
  std::map<NodeId, std::set<std::string>> results;
  for (const onnxlib::FileNode& node : network.handed.file.graph.nodes)
    if (const auto known = network.handed.nodes.find(node.name); known != network.handed.nodes.end())
      for (const NodeId id : known->second) results[id].insert(node.outputs.begin(), node.outputs.end());
  for (std::size_t i = 0; i < layers.size(); ++i) {
    std::set<std::string> named;
    for (const std::string& name : layers[i]->originals)
      if (const auto op = network.imported.byName.find(name); op != network.imported.byName.end())
        for (const auto& output : network.imported.op(op->second).outputs) named.insert(output.begin(), output.end());
    for (const auto& [id, certainty] : network.told.kernels[i].nodes)
      if (certainty == Certainty::Named &&
          std::ranges::none_of(results[id], [&](const std::string& result) { return named.contains(result); }))
        return fmt::format("{} is said to name {}", network.told.kernels[i].name, network.plan->graph().node(id).name);
  }
  return {};
}

}  // namespace

std::optional<ReadNetwork> OpenvinoTest::read(const std::string& name, std::shared_ptr<const Model> model,
                                              PlanOptions options, std::string* refused) {
  const auto failed = [&](const Diagnostic& error) {
    if (refused != nullptr) *refused = error.text();
    if (refused == nullptr) ADD_FAILURE() << name << ": " << error.text();
    return std::nullopt;
  };
  options.compiler = "openvino";
  options.target = kind().target();
  auto plan = makePlan(std::move(model), options);
  if (!plan.ok()) return failed(plan.error());
  auto handed = makeCompilerInput(plan.value(), kind().inputTypes(), {});
  if (!handed.ok()) return failed(handed.error());
  ReadNetwork network{.name = name, .plan = plan.value(), .handed = std::move(handed).value()};
  auto asked = kind().requestOptions(network.handed, {.threads = 2});
  if (!asked.ok()) return failed(asked.error());
  network.options = std::move(asked).value();
  const auto compiled =
      job().ask({.json = {{"op", "compile"}, {"options", network.options}}, .files = filesOf(network.handed)}, {});
  if (!compiled.ok()) return failed(compiled.error());
  network.answer = compiled.value().json;
  const auto begin = std::chrono::steady_clock::now();
  auto told = kind().readBack(network.handed, compiled.value());
  network.readMs = msSince(begin);
  if (!told.ok()) {
    ADD_FAILURE() << name << ": " << told.error().text();
    return std::nullopt;
  }
  network.told = std::move(told).value();
  const auto execution = readTextFile(compiled.value().files.at("execution.xml"));
  const auto imported = readTextFile(compiled.value().files.at("model.json"));
  EXPECT_TRUE(execution.ok() && imported.ok()) << name;
  network.execution = executionGraph(execution.value()).value();
  network.imported = importedNetwork(imported.value()).value();
  auto made = readBackPlan(network.plan, network.told);
  EXPECT_TRUE(made.ok()) << name << ": " << (made.ok() ? std::string() : made.error().text());
  if (made.ok()) network.made = made.value();
  return network;
}

FateCounts countsOf(const ReadNetwork& network) {
  FateCounts counts{.nodes = network.plan->graph().nodeCount(), .kernels = network.told.kernels.size()};
  std::map<NodeId, Certainty> best;
  for (const ReadBackKernel& kernel : network.told.kernels)
    for (const auto& [node, certainty] : kernel.nodes)
      best[node] = best.contains(node) ? std::min(best[node], certainty) : certainty;
  counts.inKernels = best.size();
  for (const auto& [node, certainty] : best) {
    counts.named += certainty == Certainty::Named;
    counts.derived += certainty == Certainty::Derived;
    counts.guessed += certainty == Certainty::Guessed;
  }
  for (const auto& [node, fate] : network.told.fates) {
    counts.views += fate == Fate::View;
    counts.folded += fate == Fate::Folded;
    counts.removed += fate == Fate::Removed;
    counts.merged += fate == Fate::Merged;
    counts.notDisclosed += fate == Fate::NotDisclosed;
  }
  return counts;
}

std::string tableHead() {
  return fmt::format("{:24} {:5} {:>5} {:>7} {:>5} {:>7} {:>7} {:>5} {:>6} {:>7} {:>6} {:>13} {:>9} {:>7} {:>6}",
                     "network", "hint", "nodes", "kernels", "named", "derived", "guessed", "views", "folded", "removed",
                     "merged", "not disclosed", "compile s", "read ms", "MB");
}

std::string tableRow(const ReadNetwork& network, const std::string& hint) {
  const FateCounts c = countsOf(network);
  double ms = 0;
  for (const Json& phase : network.answer["phases"]) ms += phase["ms"].get<double>();
  return fmt::format("{:24} {:5} {:>5} {:>7} {:>5} {:>7} {:>7} {:>5} {:>6} {:>7} {:>6} {:>13} {:>9.2f} {:>7.1f} {:>6}",
                     network.name, hint, c.nodes, c.kernels, c.named, c.derived, c.guessed, c.views, c.folded,
                     c.removed, c.merged, c.notDisclosed, ms / 1e3, network.readMs,
                     network.answer["peak_bytes"].get<std::int64_t>() >> 20);
}

std::string problemOf(const ReadNetwork& network) {
  if (network.made == nullptr) return "it does not fit the network";
  if (auto problem = problemOfMade(*network.made); !problem.empty()) return problem;
  const auto kernels = kernelsByNode(network.told);
  if (auto problem = fatesProblem(network, kernels); !problem.empty()) return problem;
  if (auto problem = workProblem(network); !problem.empty()) return problem;
  if (auto problem = orderProblem(network, kernels); !problem.empty()) return problem;
  const std::vector<const ExecutionLayer*> layers = kernelLayers(network);
  if (layers.size() != network.told.kernels.size()) return "its kernels are not the layers that run";
  if (auto problem = extentsProblem(network, layers); !problem.empty()) return problem;
  return namesProblem(network, layers);
}

}  // namespace fusescope::test
