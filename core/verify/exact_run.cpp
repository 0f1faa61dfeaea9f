#include "verify/exact_run.h"

#include <algorithm>

#include "backends/reference/convert_elements.h"
#include "engine/kernels/input_check.h"
#include "ops/run_node.h"
#include "planning/structure.h"

namespace fusescope {
namespace {

/// Runs nodes or fused nodes from `next` on until all of `needed` exist. `placeOf` returns the place of what makes a
/// value.
template <class PlaceOf, class RunOne>
Status advanceTo(std::span<const ValueId> needed, std::size_t& next, const PlaceOf& placeOf, const RunOne& runOne) {
  std::size_t end = next;
  for (const ValueId value : needed)
    if (const std::optional<std::size_t> place = placeOf(value)) end = std::max(end, *place + 1);
  for (; next < end; ++next) TRY(runOne(next));
  return Done{};
}

/// Returns whether it is a Cast to a float type that is the network's own width.
bool widens(const Graph& graph, const Node& node) {
  if (!node.is("Cast")) return false;
  const DataType to = graph.value(node.outputs[0]).type.dtype, from = graph.value(node.inputs[0]).type.dtype;
  return isExchangeable(to) && bitWidth(to) == 32 && (isExchangeable(from) || isInteger(from));
}

Tensor inDouble(const Tensor& tensor) {
  return isExchangeable(tensor.type()) ? convertedTensor(tensor, DataType::F64) : tensor;
}

}  // namespace

Result<std::vector<std::vector<Tensor>>> runOnSamples(FusedNodeSteps::Step& step, const FusedNode& fused,
                                                      const KeptValues& values, std::span<const std::string> samples,
                                                      const StopToken& stop) {
  std::vector<const std::vector<Tensor>*> inputs;
  for (const ValueId input : fused.inputs) inputs.push_back(&values.of(input));
  return step.runOnSamples(inputs, samples, stop);
}

ExactPlanRun::ExactPlanRun(FusedNodeSteps& steps, std::span<const std::string> samples)
    : m_steps(steps), m_samples(samples) {
  for (const FusedNode& fused : m_steps.plan().fusedNodes)
    for (const FusedOutput& output : fused.outputs) m_made[output.value] = fused.id.index;
}

void ExactPlanRun::countUses(KeptValues& values) {
  for (const FusedNode& fused : m_steps.plan().fusedNodes)
    for (const ValueId input : fused.inputs) values.willUse(input);
}

Status ExactPlanRun::advance(std::span<const ValueId> needed, KeptValues& values, const StopToken& stop) {
  const auto placeOf = [&](ValueId value) {
    const auto made = m_made.find(value);
    return made == m_made.end() ? std::nullopt : std::optional(made->second);
  };
  return advanceTo(needed, m_next, placeOf, [&](std::size_t place) -> Status {
    const FusedNode& fused = m_steps.plan().fusedNodes[place];
    auto step = TRY(m_steps.step(fused));
    auto outputs = TRY(runOnSamples(step, fused, values, m_samples, stop));
    m_steps.release(std::move(step));
    for (std::size_t i = 0; i < outputs.size(); ++i) values.keep(fused.outputs[i].value, std::move(outputs[i]));
    for (const ValueId input : fused.inputs) values.used(input);
    return Done{};
  });
}

void ExactDoubleRun::countUses(KeptValues& values) {
  const auto& order = m_graph.order();
  for (std::size_t i = 0; i < order.size(); ++i) {
    m_place.emplace(order[i], i);
    for (const ValueId operand : operands(m_graph.node(order[i])))
      if (operand.valid() && !m_graph.isConstant(operand)) values.willUse(operand);
  }
}

Status ExactDoubleRun::advance(std::span<const ValueId> needed, KeptValues& values, const StopToken& stop) {
  const auto placeOf = [&](ValueId value) {
    const auto place = m_place.find(m_graph.value(value).producer);
    return place == m_place.end() ? std::nullopt : std::optional(place->second);
  };
  return advanceTo(needed, m_next, placeOf, [&](std::size_t place) -> Status {
    TRY(checkStop(stop));
    return runNode(m_graph.node(m_graph.order()[place]), values, stop);
  });
}

Status ExactDoubleRun::runNode(const Node& node, KeptValues& values, const StopToken& stop) {
  const std::vector<ValueId> read = operands(node);
  std::vector<std::vector<Tensor>> outputs(node.outputs.size());
  for (std::size_t s = 0; s < m_samples.size(); ++s) {
    std::vector<Tensor> given;
    for (const ValueId operand : read) {
      if (!operand.valid()) {
        given.emplace_back();
      } else {
        given.push_back(m_graph.isConstant(operand) ? *m_graph.value(operand).constant : values.of(operand)[s]);
      }
    }
    std::vector<Tensor> made = TRY(onSample(run(node, given, stop), m_samples[s]));
    for (std::size_t i = 0; i < made.size() && i < outputs.size(); ++i) outputs[i].push_back(inDouble(made[i]));
  }
  for (std::size_t i = 0; i < outputs.size(); ++i)
    if (node.outputs[i].valid()) values.keep(node.outputs[i], std::move(outputs[i]));
  for (const ValueId operand : read)
    if (operand.valid() && !m_graph.isConstant(operand)) values.used(operand);
  return Done{};
}

Result<std::vector<Tensor>> ExactDoubleRun::run(const Node& node, const std::vector<Tensor>& operands,
                                                const StopToken& stop) {
  if (widens(m_graph, node)) return std::vector{convertedTensor(operands.front(), DataType::F64)};
  const std::vector<ValueId> read = fusescope::operands(node);
  const auto runAs = [&](const auto& convert) {
    std::vector<Tensor> tensors;
    std::vector<const Tensor*> pointers;
    for (std::size_t i = 0; i < read.size(); ++i)
      tensors.push_back(read[i].valid() ? convert(operands[i], m_graph.value(read[i]).type.dtype) : Tensor());
    for (std::size_t i = 0; i < read.size(); ++i) pointers.push_back(read[i].valid() ? &tensors[i] : nullptr);
    return fusescope::runNode(node, pointers, stop);
  };
  if (!hasBody(node)) {
    auto wide = runAs([](const Tensor& tensor, DataType) { return inDouble(tensor); });
    if (wide.ok() || wide.error().cancelled) return wide;
  }
  auto narrow = runAs([](const Tensor& tensor, DataType declared) { return convertedTensor(tensor, declared); });
  if (narrow.ok()) m_narrow[node.op].insert(node.name);
  return narrow;
}

}  // namespace fusescope
