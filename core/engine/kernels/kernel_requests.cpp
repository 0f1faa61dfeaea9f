#include "engine/kernels/kernel_requests.h"

#include <algorithm>

#include "ops/op_schema.h"
#include "passes/pipelines.h"
#include "planning/fusion/match.h"

namespace fusescope {

InnerTypes::InnerTypes(const Plan& plan, const FusedNode& fused) : m_plan(&plan) {
  for (const FusedOutput& output : fused.outputs) m_types.emplace_back(output.value, output.type);
  for (const InnerEdge& edge : fused.innerEdges)
    if (edge.type != DataType::Undefined) m_types.emplace_back(edge.value, edge.type);
  // If a value has several types, because it is on several edges, the first is used.
  std::ranges::stable_sort(m_types, {}, &std::pair<ValueId, DataType>::first);
  const auto isSame = [](const auto& a, const auto& b) { return a.first == b.first; };
  m_types.erase(std::unique(m_types.begin(), m_types.end(), isSame), m_types.end());
}

DataType InnerTypes::of(ValueId value) const {
  const auto found = std::ranges::lower_bound(m_types, value, {}, &std::pair<ValueId, DataType>::first);
  return found != m_types.end() && found->first == value ? found->second : m_plan->storedType(value);
}

KernelRequests::KernelRequests(const Plan& plan, std::vector<TensorType> types, int threads)
    : m_plan(&plan), m_types(std::move(types)), m_threads(threads) {}

Result<KernelRequests> KernelRequests::create(const Plan& plan, const std::map<std::string, Dims>& extents,
                                              int threads) {
  return KernelRequests(plan, TRY(inferShapes(plan.graph(), extents)), threads);
}

Result<Dims> KernelRequests::dimsOf(ValueId value) const {
  const Graph& graph = m_plan->graph();
  if (const auto& constant = graph.value(value).constant) return constant->dims();
  if (const auto fixed = m_types[value.index].shape.fixed()) return *fixed;
  return Diagnostic{.message = "its extents depend on data, so no memory can be planned for it",
                    .where = {.value = graph.value(value).name}};
}

std::optional<ByteView> KernelRequests::view(const FusedNode& fused) const {
  return viewOf(*m_plan, fused, [&](ValueId value) -> std::optional<SmallDims> {
    auto dims = dimsOf(value);
    return dims.ok() ? std::optional(std::move(dims).value()) : std::nullopt;
  });
}

void KernelRequests::addInnerValues(const InnerTypes& types, const Node& node, KernelRequest& request) const {
  for (const ValueId output : node.outputs) {
    if (!output.valid() || request.values.contains(output)) continue;
    if (const auto dims = m_types[output.index].shape.fixed()) request.values[output] = {types.of(output), *dims};
  }
}

Status KernelRequests::addConstants(KernelRequest& request) const {
  const Graph& graph = m_plan->graph();
  for (const NodeId id : request.fused->nodes) {
    for (const ValueId input : operands(graph.node(id))) {
      if (!input.valid() || !graph.isConstant(input)) continue;
      const Tensor& constant = *graph.value(input).constant;
      if (!constant.hasData())
        return Diagnostic{.message = "has no data, because the model was saved without its weights",
                          .where = {.node = graph.node(id).name, .value = graph.value(input).name},
                          .help = "The network can be opened and planned, but not built."};
      request.addConstant(input, constant);
    }
  }
  return Done{};
}

KernelRequests KernelRequests::at(std::span<const ValueId> values, std::span<const Dims> extents) const {
  KernelRequests made = *this;
  for (std::size_t i = 0; i < values.size(); ++i) made.m_types[values[i].index].shape = Shape::of(extents[i]);
  return made;
}

Result<KernelRequest> KernelRequests::of(const FusedNode& fused) const {
  KernelRequest request{.plan = m_plan, .fused = &fused, .threads = m_threads};
  for (const ValueId input : fused.inputs) request.values[input] = {wantedType(fused, input), TRY(dimsOf(input))};
  for (const FusedOutput& output : fused.outputs)
    request.values[output.value] = {output.type, TRY(dimsOf(output.value))};
  const InnerTypes inner(*m_plan, fused);
  for (const NodeId id : fused.nodes) addInnerValues(inner, m_plan->graph().node(id), request);
  TRY(addConstants(request));
  return request;
}

}  // namespace fusescope
