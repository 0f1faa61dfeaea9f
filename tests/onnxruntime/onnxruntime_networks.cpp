#include "tests/onnxruntime/onnxruntime_networks.h"

#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <set>

#include "base/elapsed.h"
#include "compilers/onnxruntime/read_optimised.h"
#include "compilers/onnxruntime/region_split.h"
#include "compilers/onnxruntime/value_comparison.h"
#include "interchange/npz.h"
#include "session/artifact.h"
#include "session/inputs/random_inputs.h"
#include "tests/support/told_networks.h"

namespace fusescope::test {
namespace {

namespace fs = std::filesystem;

/// Inputs of an archive, or random ones, by the names of the handed file.
std::map<std::string, Tensor> inputsOf(const ReadNetwork& network, const fs::path& archive) {
  const auto byName = archive.empty() ? randomInputs(*network.plan) : inputsFrom(readNpz(archive).value());
  std::map<std::string, Tensor> inputs;
  for (const auto& input : network.handed.file.graph.inputs) {
    const auto value = network.handed.values.find(input.name);
    if (value == network.handed.values.end()) continue;
    const auto given = byName.find(network.plan->graph().value(value->second).name);
    if (given != byName.end()) inputs.emplace(input.name, given->second);
  }
  return inputs;
}

}  // namespace

std::optional<ReadNetwork> OnnxRuntimeTest::read(const std::string& name, std::shared_ptr<const Model> model,
                                                 const std::string& level, const std::vector<DataType>& precisions,
                                                 std::string* refused) {
  const auto failed = [&](const Diagnostic& error) {
    if (refused != nullptr) {
      *refused = error.text();
    } else {
      ADD_FAILURE() << name << " at " << level << ": " << error.text();
    }
    return std::nullopt;
  };
  PlanOptions options;
  options.compiler = kind().name();
  options.target = kind().target();
  options.compilerOptions["level"] = level;
  options.precisions = precisions;
  auto plan = makePlan(std::move(model), options);
  if (!plan.ok()) return failed(plan.error());
  auto handed = makeCompilerInput(plan.value(), kind().inputTypes(), {});
  if (!handed.ok()) return failed(handed.error());
  ReadNetwork network{.name = name, .level = level, .plan = plan.value(), .handed = std::move(handed).value()};
  const auto request = kind().requestOptions(network.handed, {.threads = 1});
  if (!request.ok()) return failed(request.error());
  const auto compiled = job().ask(
      {.json = {{"op", "compile"}, {"options", request.value()}, {"values", true}}, .files = filesOf(network.handed)},
      {});
  if (!compiled.ok()) return failed(compiled.error());
  network.compileMs = compiled.value().json["phases"][0]["ms"].get<double>();

  const auto begin = std::chrono::steady_clock::now();
  auto told = kind().readBack(network.handed, compiled.value());
  network.readMs = msSince(begin);
  if (!told.ok()) return failed(told.error());
  network.told = std::move(told).value();
  network.kernels = std::ssize(network.told.kernels);
  auto reading = onnxruntime::readNetwork(network.handed, compiled.value().files.at("optimised.onnx"));
  if (!reading.ok()) return failed(reading.error());
  network.reading = std::move(reading).value();

  const auto inputs = inputsOf(network, m_inputs);
  for (const auto& part : onnxruntime::pairsToCompare(*network.reading, std::int64_t{1} << 60))
    network.compared += std::ssize(part);
  const auto verifying = std::chrono::steady_clock::now();
  auto verified = kind().readBackCompared(network.handed, compiled.value(), {inputs, job(), {}});
  network.verifyMs = msSince(verifying);
  if (!verified.ok()) return failed(verified.error());
  network.told = std::move(verified).value();
  const auto differing = onnxruntime::compareValues(*network.reading, inputs, job(), {});
  if (!differing.ok()) return failed(differing.error());
  if (std::getenv("FUSESCOPE_SHOW_DIFFERENT") != nullptr)
    for (const Decision& decision : differing.value()) fmt::print("  {}\n", decision.arguments.toJson().dump());
  network.equal = network.compared;
  for (const onnxruntime::TensorBinding& binding : network.reading->optimised.bindings)
    if (binding.proof == onnxruntime::Proof::Different) --network.equal;
  return network;
}

FateCounts countsOf(const ReadNetwork& network) {
  FateCounts counts;
  const auto& covers = network.reading->covers;
  std::vector<std::optional<Certainty>> best(covers.fates.size());
  for (const auto& nodes : covers.nodes)
    for (const auto& [node, certainty] : nodes)
      if (!best[node] || certainty < *best[node]) best[node] = certainty;
  counts.nodes = std::ssize(covers.fates);
  for (std::size_t i = 0; i < covers.fates.size(); ++i) {
    const Fate fate = covers.fates[i];
    counts.folded += fate == Fate::Folded;
    counts.removed += fate == Fate::Removed;
    counts.merged += fate == Fate::Merged;
    counts.view += fate == Fate::View;
    counts.notDisclosed += fate == Fate::NotDisclosed;
    counts.inKernels += fate == Fate::Kernel;
    if (fate != Fate::Kernel || !best[i]) continue;
    counts.verified += *best[i] == Certainty::Verified;
    counts.named += *best[i] == Certainty::Named;
    counts.derived += *best[i] == Certainty::Derived;
    counts.guessed += *best[i] == Certainty::Guessed;
  }
  counts.live = counts.nodes - counts.folded - counts.removed - counts.merged;
  return counts;
}

std::string tableHead() {
  return fmt::format("{:24} {:8} {:>5} {:>7} {:>6} {:>7} {:>6} {:>8} {:>5} {:>7} {:>7} {:>6} {:>11} {:>9} {:>8} {:>8}",
                     "network", "level", "nodes", "kernels", "folded", "removed", "merged", "verified", "named",
                     "derived", "guessed", "untold", "equal", "compile s", "read ms", "verify s");
}

std::string tableRow(const ReadNetwork& network) {
  const FateCounts c = countsOf(network);
  return fmt::format(
      "{:24} {:8} {:>5} {:>7} {:>6} {:>7} {:>6} {:>8} {:>5} {:>7} {:>7} {:>6} {:>11} {:>9.2f} {:>8.1f} {:>8.2f}",
      network.name, network.level, c.nodes, network.kernels, c.folded, c.removed, c.merged, c.verified, c.named,
      c.derived, c.guessed, c.notDisclosed + c.view, fmt::format("{}/{}", network.equal, network.compared),
      network.compileMs / 1000, network.readMs, network.verifyMs / 1000);
}

std::string problemOf(const ReadNetwork& network) {
  const auto made = readBackPlan(network.plan, network.told);
  if (!made.ok()) return made.error().text();
  if (auto problem = problemOfMade(*made.value()); !problem.empty()) return problem;
  const auto& reading = *network.reading;
  for (std::uint32_t i = 0; i < reading.optimised.bindings.size(); ++i) {
    const auto& binding = reading.optimised.bindings[i];
    if (binding.tensor == onnxruntime::kNone || binding.layout != onnxruntime::Layout::Plain) continue;
    const auto &is = reading.optimised.types[i].extents, &was = reading.network.types[binding.tensor].extents;
    if (!is || !was) continue;
    bool agrees = is->size() == was->size();
    for (std::size_t axis = 0; agrees && axis < is->size(); ++axis)
      agrees = (*is)[axis] == (*was)[axis] || (*is)[axis] < 0 || (*was)[axis] < 0;
    if (!agrees) return fmt::format("the tensor {} has other extents", reading.optimised.graph.tensor(i).name);
  }
  std::set<std::uint32_t> held;
  for (std::uint32_t kernel = 0; kernel < reading.covers.nodes.size(); ++kernel)
    for (const auto& [node, certainty] : reading.covers.nodes[kernel]) {
      const auto& op = reading.network.graph.node(node).file->op;
      const auto& runs = reading.optimised.graph.node(kernel).file->op;
      if (onnxruntime::workOf(op) == onnxruntime::Work::Calculates &&
          onnxruntime::workOf(runs) != onnxruntime::Work::Calculates)
        return fmt::format("the kernel {} ({}) cannot calculate a {}", kernel, runs, op);
      held.insert(node);
    }
  for (std::uint32_t node = 0; node < reading.covers.fates.size(); ++node)
    if ((reading.covers.fates[node] == Fate::Kernel) != held.contains(node))
      return fmt::format("the node {} has two fates", node);
  return {};
}

}  // namespace fusescope::test
