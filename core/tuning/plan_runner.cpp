#include "tuning/plan_runner.h"

#include <algorithm>

#include "analysis/structural_key.h"
#include "backends/reference/convert_elements.h"
#include "base/process_memory.h"
#include "engine/kernels/input_check.h"
#include "engine/program/extent_check.h"
#include "engine/steps/fused_node_steps.h"

namespace fusescope {
namespace {

void addHash(KeyBuilder& key, const Hash128& hash) {
  key.number(hash.high).number(hash.low);
}

Hash128 keyOf(const Hash128& value, std::size_t round) {
  KeyBuilder key;
  addHash(key, value);
  return key.number(round).hash();
}

/// The ids and constants that mean the same in every plan of one network. If the options of a plan quantised the
/// network, these are those of the network before; ids beyond them differ between plans.
class LastingIds {
 public:
  explicit LastingIds(const Plan& plan) : m_plan(plan), m_graph(*unquantized(plan.model)->graph) {}

  bool all() const { return m_plan.model->unquantized == nullptr; }
  template <class Id>
  std::uint32_t operator()(Id id) const {
    return all() || m_graph.has(id) ? id.index : ~std::uint32_t{0};
  }
  /// Returns operators, connections and constants of `fused`.
  std::string content(const FusedNode& fused) const {
    const auto describe = [&](ValueId id) {
      const Value& value = m_plan.graph().value(id);
      KeyBuilder key;
      key.number((*this)(id)).text(value.type.text());
      if (value.constant != nullptr && !m_graph.has(id) && value.constant->hasData())
        addHash(key, KeyBuilder().bytes({value.constant->bytes(), value.constant->byteSize()}).hash());
      return key.canonical();
    };
    return structuralKey({.graph = &m_plan.graph(), .nodes = fused.nodes, .describe = describe, .context = {}});
  }

 private:
  const Plan& m_plan;
  const Graph& m_graph;
};

}  // namespace

Hash128 contractHash(const Plan& plan, const FusedNode& fused) {
  const LastingIds lasting(plan);
  KeyBuilder key;
  addHash(key, fused.identity);
  key.text(fused.kind).number(lasting(fused.root)).number(fused.compute).number(fused.accumulate);
  key.number(plan.inFallback(fused));
  if (!lasting.all()) key.text(lasting.content(fused));
  for (const NodeId node : fused.nodes) key.number(lasting(node)).number(plan.calculates[node.index]);
  for (std::size_t i = 0; i < fused.inputs.size(); ++i)
    key.number(lasting(fused.inputs[i])).number(fused.reads[i]).number(wantedType(plan, fused, fused.inputs[i]));
  for (const FusedOutput& output : fused.outputs) key.number(lasting(output.value)).number(output.type);
  for (const InnerEdge& edge : fused.innerEdges) key.number(lasting(edge.value)).number(edge.real).number(edge.type);
  for (const CoverBody& body : plan.bodies)
    if (body.holder == fused.root) addHash(key.text(body.attribute), effectOf(plannedBody(body)));
  return key.hash();
}

std::vector<Hash128> valueHashes(const Plan& plan) {
  const LastingIds lasting(plan);
  std::vector<Hash128> hashes(plan.storedTypes.size());
  for (const ValueId input : plan.graph().inputs()) hashes[input.index] = KeyBuilder().number(input.index).hash();
  for (const FusedNode& fused : plan.fusedNodes) {
    KeyBuilder key;
    addHash(key, contractHash(plan, fused));
    for (const ValueId input : fused.inputs) addHash(key, hashes[input.index]);
    for (std::size_t i = 0; i < fused.outputs.size(); ++i) {
      const ValueId value = fused.outputs[i].value;
      KeyBuilder own = KeyBuilder(key).number(lasting(value));
      if (!lasting.all()) own.number(i);
      hashes[value.index] = own.hash();
    }
  }
  return hashes;
}

Hash128 effectOf(const Plan& plan) {
  const std::vector<Hash128> hashes = valueHashes(plan);
  KeyBuilder key;
  for (const ValueId output : plan.graph().outputs()) addHash(key, hashes[output.index]);
  return key.hash();
}

Result<std::unique_ptr<PlanRunner>> PlanRunner::create(const Plan& plan, std::vector<Inputs> samples,
                                                       const std::vector<std::string>& names,
                                                       const BuildOptions& options, std::size_t keptBytes) {
  std::unique_ptr<PlanRunner> runner(new PlanRunner(options, keptBytes));
  std::vector<std::string> called = sampleNames(names, samples.size());
  for (std::size_t i = 0; i < samples.size(); ++i) {
    auto extents = TRY(onSample(checkInputs(plan, samples[i]), called[i]));
    if (runner->m_rounds.empty() || runner->m_rounds.back().extents != extents)
      runner->m_rounds.push_back({std::move(extents), {}, {}});
    runner->m_rounds.back().samples.push_back(std::move(samples[i]));
    runner->m_rounds.back().names.push_back(std::move(called[i]));
  }
  for (const Round& round : runner->m_rounds)
    if (const auto broken = brokenCondition(plan, round.extents))
      return Diagnostic{.message = "for the extents of these inputs, the network would have another plan: " + *broken,
                        .where = {.file = plan.model->path},
                        .help = "Give the extents with --input, so that the network is planned for them."};
  return runner;
}

/// One plan on one round of samples.
class PlanRunner::Run {
 public:
  Run(PlanRunner& runner, const Plan& plan, const std::vector<Hash128>& hashes, std::size_t round)
      : m_runner(runner), m_plan(plan), m_hashes(hashes), m_index(round), m_round(runner.m_rounds[round]) {}

  Result<std::vector<Activations>> run(FusedNodeSteps& steps) {
    keepInputs();
    findNeeded();
    for (const FusedNode& fused : m_plan.fusedNodes) {
      if (!m_needed[fused.id.index]) continue;
      TRY(checkStop(m_runner.m_options.stop));
      TRY(runNode(steps, fused));
    }
    std::vector<Activations> outputs;
    for (const ValueId output : m_plan.graph().outputs()) outputs.push_back(valueOf(output));
    return outputs;
  }

 private:
  void keepInputs() {
    for (const ValueId input : m_plan.graph().inputs()) {
      std::vector<Tensor> tensors;
      for (const Inputs& sample : m_round.samples) tensors.push_back(sample.at(m_plan.graph().value(input).name));
      m_values[input] = std::make_shared<const std::vector<Tensor>>(std::move(tensors));
    }
  }

  Activations valueOf(ValueId value) const {
    const auto found = m_values.find(value);
    if (found != m_values.end()) return found->second;
    const auto& constant = m_plan.graph().value(value).constant;
    if (constant == nullptr) return nullptr;
    return std::make_shared<const std::vector<Tensor>>(m_round.samples.size(), *constant);
  }

  /// Determines, from the outputs backwards, what must run because it is needed and not stored.
  void findNeeded() {
    m_needed.assign(m_plan.fusedNodes.size(), false);
    for (const ValueId output : m_plan.graph().outputs()) need(output);
    for (std::size_t i = m_plan.fusedNodes.size(); i-- > 0;) {
      if (!m_needed[i]) {
        ++m_runner.m_reused;
        continue;
      }
      for (const ValueId input : m_plan.fusedNodes[i].inputs) need(input);
    }
  }

  void need(ValueId value) {
    ++m_uses[value];
    if (m_values.contains(value)) return;
    const NodeId producer = m_plan.graph().value(value).producer;
    if (!producer.valid()) return;
    const FusedNodeId fused = m_plan.fusedNodeOf(producer)->id;
    if (m_needed[fused.index]) return;
    if (Activations kept = m_runner.m_store.find(keyOf(m_hashes[value.index], m_index))) {
      m_values[value] = std::move(kept);
    } else {
      m_needed[fused.index] = true;
    }
  }

  Status runNode(FusedNodeSteps& steps, const FusedNode& fused) {
    auto step = TRY(steps.step(fused));
    std::vector<Activations> given;
    std::vector<const std::vector<Tensor>*> inputs;
    for (const ValueId input : fused.inputs) inputs.push_back(given.emplace_back(valueOf(input)).get());
    auto outputs = TRY(step.runOnSamples(inputs, m_round.names, m_runner.m_options.stop));
    steps.release(std::move(step));
    ++m_runner.m_ran;
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      const ValueId value = fused.outputs[i].value;
      const auto made = std::make_shared<const std::vector<Tensor>>(std::move(outputs[i]));
      m_runner.m_store.keep(keyOf(m_hashes[value.index], m_index), made);
      if (m_uses.contains(value)) m_values[value] = made;
    }
    for (const ValueId input : fused.inputs)
      if (--m_uses[input] == 0) m_values.erase(input);
    return Done{};
  }

  PlanRunner& m_runner;
  const Plan& m_plan;
  const std::vector<Hash128>& m_hashes;
  std::size_t m_index;
  const Round& m_round;
  std::map<ValueId, Activations> m_values;
  std::map<ValueId, int> m_uses;
  std::vector<char> m_needed;  ///< indexed by FusedNodeId
};

Result<std::vector<std::vector<Tensor>>> PlanRunner::run(const std::shared_ptr<const Plan>& plan) {
  const Graph& graph = plan->graph();
  const std::vector<Hash128> hashes = valueHashes(*plan);
  std::vector<std::vector<Tensor>> outputs(graph.outputs().size());
  for (std::size_t round = 0; round < m_rounds.size(); ++round) {
    const auto& [extents, samples, names] = m_rounds[round];
    const auto steps = TRY(onSample(FusedNodeSteps::create(plan, extents, m_options), names.front()));
    const auto values = TRY(Run(*this, *plan, hashes, round).run(*steps));
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      const DataType declared = graph.value(graph.outputs()[i]).type.dtype;
      for (const Tensor& tensor : *values[i]) outputs[i].push_back(convertedTensor(tensor, declared));
    }
  }
  returnFreedMemory();
  return outputs;
}

void PlanRunner::prefer(const Plan& plan, std::size_t which) {
  std::vector<Hash128> keys;
  const std::vector<Hash128> hashes = valueHashes(plan);
  for (std::size_t round = 0; round < m_rounds.size(); ++round)
    for (const FusedNode& fused : plan.fusedNodes)
      for (const FusedOutput& output : fused.outputs) keys.push_back(keyOf(hashes[output.value.index], round));
  m_store.prefer(which, keys);
}

}  // namespace fusescope
