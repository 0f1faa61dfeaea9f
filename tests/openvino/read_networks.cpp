#include "tests/openvino/read_networks.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <set>

#include "base/elapsed.h"
#include "compilers/openvino/layer_kinds.h"
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
    const bool isHeld = kernels.contains(id), isTold = network.told.fates.contains(id);
    if (isHeld == isTold)
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
  return orderProblem(network, kernels);
}

}  // namespace fusescope::test
