#include "compilers/network_errors.h"

#include "compilers/probed/probed_engine.h"
#include "compilers/segmented_engine.h"
#include "engine/kernels/input_check.h"
#include "ir/graph.h"

namespace fusescope {
namespace {

class CarriedErrors {
 public:
  CarriedErrors(Engine& lowered, Engine& exact, const LayerErrorOptions& options, const MarkedValues& inner)
      : m_lowered(lowered), m_exact(exact), m_options(options), m_inner(inner) {}

  Status add(const std::map<std::string, Tensor>& inputs, std::size_t sample) {
    if (m_options.progress) m_options.progress("run", m_lowered.backend());
    const RunResult actual = TRY(m_lowered.run(inputs, {"all"}, m_options.stop));
    const RunResult expected = TRY(m_exact.run(inputs, {"all"}, m_options.stop));
    take(actual.outputs, expected.outputs);
    take(actual.marked, expected.marked);
    if (sample < m_inner.samples.size()) take(m_inner.samples[sample], expected.marked);
    return Done{};
  }

  LayerErrorReport report() const {
    LayerErrorReport report;
    const Graph& graph = m_lowered.plan().graph();
    for (const NodeId id : graph.order())
      for (const ValueId value : graph.node(id).outputs)
        if (value.valid()) addTensor(graph, value, report);
    for (const auto& [name, why] : m_inner.whyNot) report.notMeasured.push_back({name, why});
    addKernels(report);
    report.leading = leadingToOutputs(report.tensors, graph, m_options.tolerance);
    report.firstWrong = firstWrongOf(report.tensors, report.leading, m_options.tolerance);
    return report;
  }

 private:
  void take(const std::map<std::string, Tensor>& actual, const std::map<std::string, Tensor>& expected) {
    for (const auto& [name, tensor] : actual) {
      const auto of = expected.find(name);
      if (of == expected.end() || !TensorErrorSums::comparable(tensor, of->second)) continue;
      m_sums[name].add(tensor, of->second, tensor.type());
    }
  }

  /// Adds the errors of each kernel, for all its outputs together. A value that several kernels calculate counts for
  /// the first of them.
  void addKernels(LayerErrorReport& report) const {
    report.made = m_lowered.made();
    if (report.made == nullptr) return;
    const Graph& graph = m_lowered.plan().graph();
    std::vector<TensorErrorSums> sums(report.made->fusedNodes.size());
    for (const auto& [name, of] : m_sums)
      if (const auto value = graph.findValue(name); value && graph.value(*value).producer.valid())
        if (const FusedNode* kernel = report.made->fusedNodeOf(graph.value(*value).producer))
          sums[kernel->id.index].add(of);
    for (const FusedNode& kernel : report.made->fusedNodes) {
      NodeErrors node{.name = kernel.name, .kind = kernel.kind, .ranOn = m_lowered.backend(), .errors = {}};
      if (!sums[kernel.id.index].empty()) node.errors.carried = sums[kernel.id.index].error();
      report.nodes.push_back(std::move(node));
    }
  }

  void addTensor(const Graph& graph, ValueId id, LayerErrorReport& report) const {
    const Value& value = graph.value(id);
    const auto sums = m_sums.find(value.name);
    if (sums == m_sums.end()) {
      if (graph.isOutput(id)) report.notMeasured.push_back({value.name, "it contains no numbers that can be compared"});
      return;
    }
    const std::shared_ptr<const Cover> made = m_lowered.made();
    const FusedNode* kernel = made != nullptr ? made->fusedNodeOf(value.producer) : nullptr;
    report.tensors.push_back({.name = value.name,
                              .fusedNode = kernel != nullptr ? kernel->name : graph.node(value.producer).name,
                              .stored = made != nullptr ? made->storedType(id) : DataType::Undefined,
                              .isOutput = graph.isOutput(id),
                              .errors = {.local = {}, .carried = sums->second.error()}});
  }

  Engine& m_lowered;
  Engine& m_exact;
  const LayerErrorOptions& m_options;
  const MarkedValues& m_inner;
  std::map<std::string, TensorErrorSums> m_sums;
};

}  // namespace

Result<LayerErrorReport> carriedErrors(Engine& lowered, Engine& exact,
                                       std::span<const std::map<std::string, Tensor>> samples,
                                       const LayerErrorOptions& options, const MarkedValues& inner) {
  CarriedErrors errors(lowered, exact, options, inner);
  const std::vector<std::string> names = sampleNames(options.sampleNames, samples.size());
  for (std::size_t i = 0; i < samples.size(); ++i) TRY(onSample(errors.add(samples[i], i), names[i]));
  return errors.report();
}

Result<MarkedValues> innerValues(const Engine& lowered, std::span<const std::map<std::string, Tensor>> samples,
                                 const BuildOptions& options) {
  constexpr std::int64_t kMostBuilds = 64;
  const auto* segmented = dynamic_cast<const SegmentedEngine*>(&lowered);
  const Engine* part = segmented != nullptr ? segmented->onlyPart() : nullptr;
  const auto* probed = dynamic_cast<const ProbedEngine*>(part);
  if (probed == nullptr) return MarkedValues{};
  return probed->markedValues(samples, kMostBuilds, options);
}

}  // namespace fusescope
