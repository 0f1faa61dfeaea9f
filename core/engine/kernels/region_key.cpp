#include "engine/kernels/region_key.h"

#include <algorithm>
#include <unordered_map>

#include "analysis/structural_key.h"
#include "backends/reference/reference_backend.h"
#include "base/hash.h"
#include "ops/run_node.h"
#include "ops/support/work.h"
#include "planning/bindings.h"
#include "planning/structure.h"

namespace fusescope {
namespace {

/// The types of a request, or the types that it would have if all its floats were of one type.
class RequestTypes {
 public:
  explicit RequestTypes(const KernelRequest& request, DataType pure = DataType::Undefined) : m_pure(pure) {
    const Binding* product = findBinding(request.fused->bindings, roles::kProduct);
    if (product != nullptr) m_probabilities = request.plan->graph().node(product->node).input(0);
    for (const InnerEdge& edge : request.fused->innerEdges) m_inner[edge.value].push_back(&edge);
    for (const FusedOutput& output : request.fused->outputs) ++m_outputs[output.value];
  }

  const std::vector<const InnerEdge*>& innerEdges(ValueId value) const {
    static const std::vector<const InnerEdge*> kNone;
    const auto found = m_inner.find(value);
    return found == m_inner.end() ? kNone : found->second;
  }
  /// Returns how often the value is an output of the kernel.
  int outputs(ValueId value) const {
    const auto found = m_outputs.find(value);
    return found == m_outputs.end() ? 0 : found->second;
  }

  DataType of(DataType type) const { return m_pure != DataType::Undefined && isExchangeable(type) ? m_pure : type; }
  /// Inner values of a kernel are in its accumulate type, except for the operand of a second product
  /// (planning/describe.cpp).
  DataType of(const InnerEdge& edge) const {
    return edge.real || edge.value == m_probabilities ? of(edge.type) : edge.type;
  }
  DataType of(ValueId value, DataType type) const {
    for (const InnerEdge* edge : innerEdges(value))
      if (!edge->real) return of(*edge);
    return of(type);
  }

 private:
  DataType m_pure;
  ValueId m_probabilities;
  std::unordered_map<ValueId, std::vector<const InnerEdge*>> m_inner;  ///< in the order of the edges
  std::unordered_map<ValueId, int> m_outputs;
};

std::string described(const KernelRequest& request, const RequestTypes& types, ValueId value) {
  KeyBuilder key;
  if (const auto found = request.values.find(value); found != request.values.end()) {
    key.text(name(types.of(value, found->second.dtype)));
    for (const std::int64_t extent : found->second.dims) key.number(extent);
  }
  if (request.plan->graph().isConstant(value)) key.text(name(request.plan->storedType(value)));
  for (int i = types.outputs(value); i > 0; --i) key.text("output");
  for (const InnerEdge* edge : types.innerEdges(value))
    key.text(edge->real ? "real" : "inner").text(name(types.of(*edge)));
  return key.canonical();
}

std::string keyOf(const KernelRequest& request, const RequestTypes& types) {
  const FusedNode& fused = *request.fused;
  KeyBuilder context;
  context.text(fused.kind).text(name(fused.compute)).text(name(fused.accumulate));
  for (const NodeId node : fused.nodes) context.text(name(types.of(request.plan->calculates[node.index])));
  return structuralKey({.graph = &request.plan->graph(),
                        .nodes = fused.nodes,
                        .describe = [&](ValueId value) { return described(request, types, value); },
                        .context = context.canonical()});
}

/// Adds the fields that are part of the key of every time. The version in `what` is increased when stored times must no
/// longer be used.
KeyBuilder keyOf(std::string_view what, const TimingContext& context) {
  KeyBuilder key;
  key.text(what).text(context.fingerprint).text(context.backend).number(context.threads);
  return key;
}

/// Returns the extents of a value of the request; those of a constant come from the graph. Returns nullopt if they
/// depend on data.
std::optional<Dims> extentsAt(const KernelRequest& request, ValueId value) {
  if (!value.valid()) return Dims();
  if (const auto found = request.values.find(value); found != request.values.end()) return found->second.dims;
  return request.plan->graph().value(value).type.shape.fixed();
}

/// Returns the number of operations at the extents of the request; nullopt if an extent depends on data.
std::optional<std::int64_t> flopsAt(const KernelRequest& request) {
  std::int64_t flops = 0;
  for (const NodeId id : request.fused->nodes) {
    const Node& node = request.plan->graph().node(id);
    std::vector<Dims> inputs, outputs;
    for (const auto& [values, into] : {std::pair(&node.inputs, &inputs), std::pair(&node.outputs, &outputs)}) {
      for (const ValueId value : *values) {
        auto extents = extentsAt(request, value);
        if (!extents) return std::nullopt;
        into->push_back(std::move(*extents));
      }
    }
    flops = ops::addedWork(flops, flopsOf(node, inputs, outputs));
  }
  return flops == ops::kBeyondCounting ? std::nullopt : std::optional(flops);
}

/// Returns the bytes of inputs, constants and outputs at the extents of the request.
std::int64_t bytesAt(const KernelRequest& request) {
  std::size_t bytes = 0;
  for (const ValueId input : request.fused->inputs) bytes += request.values.at(input).bytes();
  for (const FusedOutput& output : request.fused->outputs) bytes += request.values.at(output.value).bytes();
  for (const auto& [value, tensor] : request.constants) bytes += tensor.byteSize();
  return static_cast<std::int64_t>(bytes);
}

}  // namespace

std::string regionKey(const KernelRequest& request) {
  return keyOf(request, RequestTypes(request));
}

std::optional<PureKernel> pureKernelOf(const KernelRequest& request, const std::string& region) {
  const FusedNode& fused = *request.fused;
  if (!isExchangeable(fused.compute)) return std::nullopt;
  PureKernel pure{.region = keyOf(request, RequestTypes(request, fused.compute))};
  if (pure.region == region) return std::nullopt;
  const auto add = [&](ValueId value) {
    const TensorDesc& desc = request.values.at(value);
    if (isExchangeable(desc.dtype) && desc.dtype != fused.compute)
      pure.foreignBytes += static_cast<double>(desc.bytes());
  };
  std::ranges::for_each(fused.inputs, add);
  for (const FusedOutput& output : fused.outputs) add(output.value);
  return pure;
}

TimingContext timingContext(const Backend& backend, int threads) {
  return {.fingerprint = backend.fingerprint().text(), .backend = std::string(backend.name()), .threads = threads};
}

TimingContext timingContext(const Plan& plan, const Backend& backend, int threads) {
  TimingContext context = timingContext(backend, threads);
  context.workspaceBytes = plan.options.workspaceBytes;
  return context;
}

std::string regionTimeKey(const std::string& region, const TimingContext& context) {
  KeyBuilder key = keyOf(kRegionTimeKey, context);
  key.text(region).number(context.workspaceBytes);
  return key.canonical();
}

std::string timingKey(const std::string& region, const Tactic& tactic, const TimingContext& context) {
  KeyBuilder key = keyOf(kTacticTimeKey, context);
  key.text(region).text(tactic.name);
  for (const MemoryFormat& format : tactic.inputs) key.text(format.text());
  key.text("->");
  for (const MemoryFormat& format : tactic.outputs) key.text(format.text());
  return key.canonical();
}

std::string conversionTimeKey(const TensorDesc& from, const TensorDesc& to, const TimingContext& context) {
  KeyBuilder key = keyOf(kConversionTimeKey, context);
  for (const TensorDesc* desc : {&from, &to}) key.text(name(desc->dtype)).text(desc->format.text());
  const bool plain = from.format.isPlain() && to.format.isPlain();
  if (plain) {  // extents do not matter if the order of the axes does not change
    key.number(elementCount(from.dims).value_or(0));
  } else {
    for (const std::int64_t extent : from.dims) key.number(extent);
  }
  return key.canonical();
}

std::optional<Workload> regionWorkload(const KernelRequest& request, const TimingContext& context) {
  const FusedNode& fused = *request.fused;
  const std::optional<std::int64_t> flops = fused.flops ? fused.flops : flopsAt(request);
  if (!flops) return std::nullopt;
  KeyBuilder series = keyOf("fusescope.region_series.2", context);
  series.text(fused.kind).text(name(fused.compute)).number(context.workspaceBytes);
  return Workload{.series = series.canonical(),
                  .work = static_cast<double>(*flops),
                  .traffic = static_cast<double>(fused.bytes.value_or(bytesAt(request)))};
}

std::string mixedTimeKey(const std::string& region, const TimingContext& context) {
  KeyBuilder key = keyOf(kMixedTimeKey, context);
  return key.text(region).number(context.workspaceBytes).canonical();
}

bool runsAsOne(const Backend& backend, const KernelRequest& request) {
  return std::ranges::any_of(backend.tactics(request), [](const Tactic& tactic) {
    return !tactic.numerics.emulated && tactic.implementation != kUnfused && tactic.backend != kReferenceBackend;
  });
}

Workload mixedWorkload(const KernelRequest& request, double pureMs, double foreignBytes, bool asOne,
                       const TimingContext& context) {
  KeyBuilder series = keyOf("fusescope.mixed_series.1", context);
  series.text(request.fused->kind).number(asOne).number(context.workspaceBytes);
  return {.series = series.canonical(), .work = pureMs, .traffic = foreignBytes};
}

Workload conversionWorkload(DataType from, DataType to, std::int64_t elements, const TimingContext& context) {
  KeyBuilder series = keyOf("fusescope.conversion_series.2", context);
  series.text(name(from)).text(name(to));
  return {.series = series.canonical(), .traffic = static_cast<double>(elements)};
}

}  // namespace fusescope
