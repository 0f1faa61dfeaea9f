#include "backends/native/lowering/lower_region.h"

#include <algorithm>
#include <iterator>

#include "backends/native/kernels/narrow_floats.h"
#include "backends/native/lowering/emit_reference.h"
#include "backends/native/lowering/emitter.h"
#include "ops/exact_types.h"

namespace fusescope::native {
namespace {

/// Returns whether the result of the node depends on the exact narrow float type that it reads, whereas a program holds
/// f32. A node that reads only constants reads them in their own type.
bool insistsOnNarrow(const Graph& graph, const Node& node) {
  if (!needsExactTypes(node) && !hasBody(node)) return false;
  const std::vector<ValueId> read = operands(node);
  const auto isGiven = [&](ValueId value) { return !value.valid() || graph.isConstant(value); };
  return !std::ranges::all_of(read, isGiven) && std::ranges::any_of(read, [&](ValueId value) {
    return value.valid() && isNarrow(graph.value(value).type.dtype);
  });
}

/// Returns whether elements of the type have a whole number of bytes and programs can process the type.
bool isAddressable(DataType type) {
  return !isPacked(type) && type != DataType::String && type != DataType::C64 && type != DataType::C128;
}

/// Returns the units that the emitters claim. There are none if the nodes are lowered one by one.
Units claimedUnits(Context& context) {
  Units units;
  if (!context.options().fuse) return units;
  for (const Emitter* emitter : emitters())
    if (emitter->settle != nullptr && context.rounding().differs()) emitter->settle(context);
  if (context.isUnfused()) return units;
  for (const Emitter* emitter : emitters())
    if (emitter->claim != nullptr) emitter->claim(context, units);
  return units;
}

Status emitNodes(Context& context) {
  const Units units = claimedUnits(context);
  for (const NodeId id : context.fused().nodes) {
    if (context.isFolded(id) || units.isCovered(id)) continue;
    context.setReader(id);
    if (const EmitUnit* emit = units.at(id)) {
      TRY((*emit)(context));
    } else {
      TRY(emitNode(context, context.node(id)));
    }
  }
  return context.flush();
}

}  // namespace

Result<LoweredRegion> lowerRegion(const KernelRequest& request, LoweringOptions options) {
  Context context(request, std::move(options));
  TRY(context.bindInputs());
  context.foldConstants();
  TRY(emitNodes(context));
  TRY(context.finishOutputs());
  return LoweredRegion{.code = context.finish(), .choices = context.choices()};
}

bool canLower(const KernelRequest& request) {
  const Graph& graph = request.plan->graph();
  const FusedNode& fused = *request.fused;
  const auto lies = [&](ValueId value) { return isAddressable(request.values.at(value).dtype); };
  if (!std::ranges::all_of(fused.inputs, lies)) return false;
  if (!std::ranges::all_of(fused.outputs, lies, &FusedOutput::value)) return false;
  if (keptType(request) != DataType::Undefined) return true;
  const auto isKnown = [](DataType type) { return !isFloat(type) || type == DataType::F32 || isNarrow(type); };
  const auto isHeld = [&](ValueId value) { return isKnown(request.values.at(value).dtype); };
  const auto calculates = [&](NodeId id) {
    return isKnown(request.plan->calculates[id.index]) || !request.plan->readsMemory(id);
  };
  return std::ranges::all_of(fused.inputs, isHeld) && std::ranges::all_of(fused.outputs, isHeld, &FusedOutput::value) &&
         std::ranges::all_of(fused.innerEdges,
                             [&](const InnerEdge& edge) { return !edge.real || isKnown(edge.type); }) &&
         std::ranges::all_of(fused.nodes, calculates) &&
         std::ranges::none_of(fused.nodes, [&](NodeId id) { return insistsOnNarrow(graph, graph.node(id)); });
}

Status emitNode(Context& context, const Node& node) {
  for (const Emitter* emitter : emitters())
    if (emitter->queue != nullptr && TRY(emitter->queue(context, node))) return Done{};
  TRY(context.flushFor(node.inputs));
  for (const Emitter* emitter : emitters())
    if (emitter->emit != nullptr && TRY(emitter->emit(context, node))) return Done{};
  return emitReference(context, node);
}

void Units::add(NodeId at, EmitUnit emit, const std::set<NodeId>& nodes) {
  m_units.emplace(at, std::move(emit));
  m_claimed.insert(nodes.begin(), nodes.end());
  std::ranges::copy_if(nodes, std::inserter(m_covered, m_covered.end()), [&](NodeId node) { return node != at; });
}

const EmitUnit* Units::at(NodeId node) const {
  const auto found = m_units.find(node);
  return found == m_units.end() ? nullptr : &found->second;
}

}  // namespace fusescope::native
