#include "tests/openvino/read_networks.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <map>
#include <set>

#include "compilers/openvino/layer_kinds.h"
#include "compilers/probed/probed_compiler.h"
#include "frontends/importers.h"
#include "passes/pipelines.h"
#include "probe/environments.h"
#include "probe/listeners.h"

namespace fusescope::test {
namespace {

namespace fs = std::filesystem;

fs::path pythonOfCompilers() {
  if (const char* given = std::getenv("FUSESCOPE_COMPILERS_PYTHON")) return given;
  const char* home = std::getenv("HOME");
  return fs::path(home == nullptr ? "" : home) / ".cache/fusescope/compilers-python/bin/python";
}

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

void OpenvinoTest::SetUp() {
  const fs::path python = pythonOfCompilers();
  if (!fs::exists(python)) GTEST_SKIP() << "no Python with openvino at " << python;
  fs::create_directory(m_folder / "configuration");
  ::setenv("XDG_CONFIG_HOME", (m_folder / "configuration").c_str(), 1);
  ASSERT_TRUE(confirm(python.string()).ok());
  auto job = ProbeJob::start({.name = "tests", .command = python.string()}, "openvino", {});
  ASSERT_TRUE(job.ok()) << job.error().text();
  m_job = std::move(job).value();
}

void OpenvinoTest::TearDown() {
  m_job.reset();
  endIdleListeners();
}

fs::path zooNetwork(const std::string& name) {
  const char* filled = std::getenv("FUSESCOPE_ZOO");
  const fs::path folder = filled == nullptr ? fs::path() : fs::path(filled);
  if (!folder.empty() && fs::exists(folder / (name + ".onnx"))) return folder / (name + ".onnx");
  const auto shared = zooModel(name);
  return shared && shared->filename() == "model.onnx" ? *shared : fs::path();
}

std::shared_ptr<const Model> preparedModel(const fs::path& path) {
  auto imported = importModel(path);
  EXPECT_TRUE(imported.ok()) << (imported.ok() ? std::string() : imported.error().text());
  if (!imported.ok()) return nullptr;
  auto prepared = prepareModel(std::move(imported).value());
  EXPECT_TRUE(prepared.ok()) << (prepared.ok() ? std::string() : prepared.error().text());
  return prepared.ok() ? std::make_shared<const Model>(std::move(prepared).value()) : nullptr;
}

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
  auto handed = handNetwork(plan.value(), kind().handedTypes(), {});
  if (!handed.ok()) return failed(handed.error());
  ReadNetwork network{.name = name, .plan = plan.value(), .handed = std::move(handed).value()};
  auto asked = kind().requestOptions(network.handed, {.threads = 2});
  if (!asked.ok()) return failed(asked.error());
  network.options = std::move(asked).value();
  const auto compiled =
      m_job->ask({.json = {{"op", "compile"}, {"options", network.options}}, .files = filesOf(network.handed)}, {});
  if (!compiled.ok()) return failed(compiled.error());
  network.answer = compiled.value().json;
  const auto begin = std::chrono::steady_clock::now();
  auto told = kind().readBack(network.handed, compiled.value());
  network.readMs = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
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
  const auto kernels = kernelsByNode(network.told);
  if (auto problem = fatesProblem(network, kernels); !problem.empty()) return problem;
  if (auto problem = workProblem(network); !problem.empty()) return problem;
  return orderProblem(network, kernels);
}

}  // namespace fusescope::test
