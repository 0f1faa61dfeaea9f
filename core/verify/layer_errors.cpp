#include "verify/layer_errors.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "engine/kernels/input_check.h"
#include "engine/program/extent_check.h"
#include "engine/steps/fused_node_steps.h"
#include "verify/exact_network.h"
#include "verify/exact_run.h"

namespace fusescope {
namespace {

using Inputs = std::map<std::string, Tensor>;

/// The sums of one fused node's outputs.
struct NodeSums {
  std::vector<TensorErrorSums> local, carried;  ///< in the order of FusedNode::outputs
  std::string whyNot;                           ///< the reason, if something could not be measured
};

/// One round: samples with equal extents, for which the nodes are compared one by one.
class Round {
 public:
  Round(ExactRun& exact, const ExactCounterparts& counterparts, FusedNodeSteps& lowered,
        std::span<const Inputs> samples, std::span<const std::string> names, const LayerErrorOptions& options)
      : m_exactRun(exact),
        m_counterparts(counterparts),
        m_loweredSteps(lowered),
        m_samples(samples),
        m_names(names),
        m_options(options) {}

  Status run(std::vector<NodeSums>& sums) {
    countUses();
    keepInputs();
    for (const FusedNode& fused : lowered().fusedNodes) {
      TRY(checkStop(m_options.stop));
      if (m_options.progress) m_options.progress("errors", fused.name);
      std::vector<ValueId> needed;
      forEachExact(fused, [&](ValueId exact) { needed.push_back(exact); });
      TRY(m_exactRun.advance(needed, m_exact, m_options.stop));
      TRY(measure(fused, sums[fused.id.index]));
    }
    return Done{};
  }

 private:
  const Plan& lowered() const { return m_loweredSteps.plan(); }

  void countUses() {
    m_exactRun.countUses(m_exact);
    for (const FusedNode& fused : lowered().fusedNodes) {
      for (const ValueId input : fused.inputs) m_carried.willUse(input);
      forEachExact(fused, [&](ValueId exact) { m_exact.willUse(exact); });
    }
  }

  /// Visits what corresponds to its inputs and outputs in the exact network.
  template <class Visit>
  void forEachExact(const FusedNode& fused, const Visit& visit) const {
    for (const ValueId input : fused.inputs)
      if (const auto exact = m_counterparts.of(input)) visit(*exact);
    for (const FusedOutput& output : fused.outputs)
      if (const auto exact = m_counterparts.of(output.value)) visit(*exact);
  }

  void keepInputs() {
    const Graph& graph = lowered().graph();
    for (const ValueId input : graph.inputs()) {
      std::vector<Tensor> tensors;
      for (const Inputs& sample : m_samples) tensors.push_back(sample.at(graph.value(input).name));
      m_exact.keep(input, tensors);
      m_carried.keep(input, std::move(tensors));
    }
  }

  Status measure(const FusedNode& fused, NodeSums& sums) {
    auto step = TRY(m_loweredSteps.step(fused));
    TRY(measureLocal(step, fused, sums));
    auto carried = TRY(runOnSamples(step, fused, m_carried, m_names, m_options.stop));
    TRY(compare(fused, carried, sums.carried, sums.whyNot));
    m_loweredSteps.release(std::move(step));
    for (std::size_t i = 0; i < carried.size(); ++i) m_carried.keep(fused.outputs[i].value, std::move(carried[i]));
    for (const ValueId input : fused.inputs) m_carried.used(input);
    forEachExact(fused, [&](ValueId exact) { m_exact.used(exact); });
    return Done{};
  }

  Status measureLocal(FusedNodeSteps::Step& step, const FusedNode& fused, NodeSums& sums) {
    std::vector<std::vector<Tensor>> given;
    for (const ValueId input : fused.inputs) {
      const std::vector<Tensor>* exact = exactOf(input);
      if (exact == nullptr) {
        sums.whyNot = fmt::format("its input {} is not in memory in the exact plan", nameOf(input));
        return Done{};
      }
      given.push_back(TRY(asRead(input, *exact)));
    }
    std::vector<const std::vector<Tensor>*> inputs;
    for (const auto& ofSamples : given) inputs.push_back(&ofSamples);
    const auto outputs = TRY(step.runOnSamples(inputs, m_names, m_options.stop));
    return compare(fused, outputs, sums.local, sums.whyNot);
  }

  /// Returns null if the value is not in memory there.
  const std::vector<Tensor>* exactOf(ValueId value) const {
    const auto exact = m_counterparts.of(value);
    return exact && m_exact.has(*exact) ? &m_exact.of(*exact) : nullptr;
  }

  /// Returns `exact` as codes if `value` is codes.
  Result<std::vector<Tensor>> asRead(ValueId value, std::vector<Tensor> exact) const {
    if (const CodeMeaning* meaning = m_counterparts.meaning(value))
      for (Tensor& tensor : exact) tensor = TRY(meaning->codesOf(tensor, m_options.stop));
    return exact;
  }

  Status compare(const FusedNode& fused, const std::vector<std::vector<Tensor>>& outputs,
                 std::vector<TensorErrorSums>& sums, std::string& whyNot) const {
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      const FusedOutput& output = fused.outputs[i];
      const std::vector<Tensor>* expected = exactOf(output.value);
      if (expected == nullptr) {
        whyNot = "it is not in memory in the exact plan";
        continue;
      }
      const CodeMeaning* meaning = m_counterparts.meaning(output.value);
      for (std::size_t s = 0; s < outputs[i].size(); ++s) {
        const Tensor &actual = outputs[i][s], &exact = (*expected)[s];
        if (!TensorErrorSums::comparable(actual, exact)) {
          whyNot = "it contains no numbers, or it has other extents in the exact plan";
        } else if (meaning != nullptr) {
          TRY(sums[i].addCodes(actual, exact, *meaning, m_options.stop));
        } else if (isFloat(exact.type()) != isFloat(actual.type())) {
          whyNot = "its codes do not have one constant scale";
        } else {
          sums[i].add(actual, exact, output.type);
        }
      }
    }
    return Done{};
  }

  std::string nameOf(ValueId value) const { return lowered().graph().value(value).name; }

  ExactRun& m_exactRun;
  const ExactCounterparts& m_counterparts;
  FusedNodeSteps& m_loweredSteps;
  std::span<const Inputs> m_samples;
  std::span<const std::string> m_names;  ///< the name of each sample
  const LayerErrorOptions& m_options;
  KeptValues m_exact, m_carried;
};

bool sameNodes(const Plan& a, const Plan& b) {
  return std::ranges::equal(a.fusedNodes, b.fusedNodes, {}, &FusedNode::identity, &FusedNode::identity);
}

void addNode(const Plan& plan, const FusedNode& fused, const std::string& ranOn, const NodeSums& sums,
             const Tolerance& tolerance, LayerErrorReport& report) {
  NodeErrors node{.name = fused.name, .kind = fused.kind, .ranOn = ranOn};
  TensorErrorSums local, carried;
  const auto errorOf = [](const TensorErrorSums& of) { return of.empty() ? std::nullopt : std::optional(of.error()); };
  for (std::size_t i = 0; i < fused.outputs.size(); ++i) {
    const FusedOutput& output = fused.outputs[i];
    const std::string& name = plan.graph().value(output.value).name;
    if (sums.local[i].empty()) {
      report.notMeasured.push_back({name, sums.whyNot.empty() ? "it has no elements" : sums.whyNot});
      if (sums.carried[i].empty()) continue;
    }
    local.add(sums.local[i]);
    carried.add(sums.carried[i]);
    report.tensors.push_back({.name = name,
                              .fusedNode = fused.name,
                              .stored = output.type,
                              .isOutput = plan.graph().isOutput(output.value),
                              .errors = {errorOf(sums.local[i]), errorOf(sums.carried[i])}});
  }
  node.errors = {errorOf(local), errorOf(carried)};
  if (const auto& error = node.errors.local; error && fractionOfBound(*error, tolerance.rms.value_or(INFINITY)) > 1)
    node.lostWeights = lostWeights(plan, fused.nodes);
  report.nodes.push_back(std::move(node));
}

}  // namespace

Result<std::shared_ptr<const Plan>> exactPlanFor(const Plan& lowered, PlanOptions options, const StopToken& stop) {
  const auto model = TRY(exactNetworkOf(lowered, stop));
  std::shared_ptr<const Plan> exact = TRY(makePlan(model, options, nullptr, stop, &lowered));
  std::set<ValueId> inMemory;
  for (const FusedNode& fused : exact->fusedNodes)
    for (const FusedOutput& output : fused.outputs) inMemory.insert(output.value);
  const Graph& graph = *model->graph;
  const ExactCounterparts counterparts(lowered.graph(), model);
  std::set<std::string> split;
  for (const FusedNode& fused : lowered.fusedNodes) {
    for (const FusedOutput& output : fused.outputs) {
      const auto value = counterparts.of(output.value);
      const NodeId producer = value ? graph.value(*value).producer : NodeId();
      if (graph.has(producer) && !inMemory.contains(*value)) split.insert(graph.node(producer).name);
    }
  }
  if (split.empty()) return exact;
  for (const std::string& node : split) options.directives.push_back(splitDirective(node));
  assignIds(options.directives);
  return makePlan(model, options, nullptr, stop, exact.get());
}

Result<LayerErrorReport> measureLayerErrors(std::shared_ptr<const Plan> exact, std::shared_ptr<const Plan> lowered,
                                            std::span<const Inputs> samples, const LayerErrorOptions& options) {
  lowered = planRunBy(std::move(lowered), options.backend);
  std::vector<NodeSums> sums;
  for (const FusedNode& fused : lowered->fusedNodes)
    sums.push_back(
        {std::vector<TensorErrorSums>(fused.outputs.size()), std::vector<TensorErrorSums>(fused.outputs.size()), {}});
  std::map<std::string, std::set<std::string>> narrow;
  const ExactCounterparts counterparts(lowered->graph(),
                                       exact != nullptr ? exact->model : TRY(exactNetworkOf(*lowered, options.stop)));
  const BuildOptions build{.backend = options.backend, .threads = options.threads, .stop = options.stop};
  const std::vector<std::string> names = sampleNames(options.sampleNames, samples.size());
  for (std::size_t begin = 0; begin < samples.size();) {
    const auto extents = TRY(checkInputs(*lowered, samples[begin]));
    const auto stepsOf = [&](const std::shared_ptr<const Plan>& plan) -> Result<std::unique_ptr<FusedNodeSteps>> {
      return FusedNodeSteps::create(TRY(planAt(plan, extents, options.stop)), extents, build);
    };
    const auto loweredSteps = TRY(onSample(stepsOf(lowered), names[begin]));
    const auto exactSteps = exact == nullptr ? nullptr : TRY(onSample(stepsOf(exact), names[begin]));
    if (!sameNodes(loweredSteps->plan(), *lowered))
      return Diagnostic{.message = "for the extents of these inputs, the network would have another plan",
                        .where = {.file = lowered->model->path},
                        .help = "Give the extents with --input, so that the network is planned for them."};
    const std::size_t bytes = exactSteps == nullptr ? 4 * loweredSteps->bytesInMemory() : exactSteps->bytesInMemory();
    const std::size_t end = TRY(endOfStretch(*lowered, samples, begin, extents, bytes, kMostKeptBytes));
    const auto roundNames = std::span(names).subspan(begin, end - begin);
    std::unique_ptr<ExactRun> exactRun;
    if (exactSteps == nullptr) {
      exactRun = std::make_unique<ExactDoubleRun>(*counterparts.exact().graph, roundNames, narrow);
    } else {
      exactRun = std::make_unique<ExactPlanRun>(*exactSteps, roundNames);
    }
    TRY(Round(*exactRun, counterparts, *loweredSteps, samples.subspan(begin, end - begin), roundNames, options)
            .run(sums));
    begin = end;
  }
  LayerErrorReport report;
  for (const auto& [op, nodes] : narrow) report.notInDouble.push_back({op, std::ssize(nodes)});
  for (const FusedNode& fused : lowered->fusedNodes)
    addNode(*lowered, fused, std::string(backendOf(*lowered, fused).name()), sums[fused.id.index], options.tolerance,
            report);
  report.leading = leadingToOutputs(report.tensors, lowered->graph(), options.tolerance);
  report.firstWrong = firstWrongOf(report.tensors, report.leading, options.tolerance);
  return report;
}

}  // namespace fusescope
