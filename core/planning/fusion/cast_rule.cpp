#include <algorithm>
#include <array>

#include "analysis/users.h"
#include "planning/fusion/rules.h"
#include "planning/kinds.h"

namespace fusescope {

ValueId beforeOwnCasts(const RegionBuilder& state, ValueId value, std::vector<NodeId>& casts) {
  const Graph& graph = state.graph();
  for (const Node* cast = producerIf(graph, value, "Cast"); cast != nullptr; cast = producerIf(graph, value, "Cast")) {
    if (!isFloatCast(graph, *cast) || !state.alone(cast->id) || !hasSingleUse(graph, value)) return value;
    casts.push_back(cast->id);
    value = cast->input(0);
  }
  return value;
}

ValueId behindOwnCasts(const RegionBuilder& state, ValueId value, std::vector<NodeId>& casts) {
  const Graph& graph = state.graph();
  for (const Node* cast = onlyConsumer(graph, value); cast != nullptr; cast = onlyConsumer(graph, value)) {
    if (!isFloatCast(graph, *cast) || !state.alone(cast->id)) return value;
    casts.push_back(cast->id);
    value = cast->outputs.front();
  }
  return value;
}

namespace {

/// Returns whether kernels of this kind read and write any float type, as the plan requires.
bool takesCast(std::string_view kind) {
  constexpr std::array kNot = {std::string_view("if"),         std::string_view("loop"),
                               std::string_view("scan"),       std::string_view("control_flow"),
                               std::string_view("recurrence"), std::string_view("random"),
                               std::string_view("shape")};
  return std::ranges::find(kNot, kind) == kNot.end();
}

bool join(RegionBuilder& state, NodeId host, NodeId cast) {
  if (!state.fusible(host) || !takesCast(state.kindOf(host))) return false;
  return state.tryMerge({.nodes = {host, cast},
                         .root = state.rootOf(host),
                         .kind = state.kindOf(host),
                         .rules = {"cast"},
                         .deliversInner = state.kindOf(host) == kinds::kPointwise});
}

//
//   kernel ─ Cast      between floats: a Cast goes into the kernel that writes its operand, or else into the one that
//   Cast ─ kernel      reads its result
void fuseCasts(RegionBuilder& state) {
  const Graph& graph = state.graph();
  for (const NodeId id : state.scope()) {
    const Node& cast = graph.node(id);
    if (!isFloatCast(graph, cast) || !state.alone(id)) continue;
    const NodeId producer = graph.value(cast.input(0)).producer;
    if (producer.valid() && onlyConsumer(graph, cast.input(0)) != nullptr && join(state, producer, id)) continue;
    const std::vector<NodeId>& users = graph.value(cast.outputs.front()).consumers;
    const bool oneKernel =
        !users.empty() && !graph.isOutput(cast.outputs.front()) && std::ranges::all_of(users, [&](NodeId user) {
          return state.fusible(user) && state.together(user, users.front());
        });
    if (oneKernel) join(state, users.front(), id);
  }
}

}  // namespace

extern const FusionRule kCastRule{
    .name = "cast", .picture = "cast(kernel(x)), kernel(cast(x)), between floats", .apply = fuseCasts};

}  // namespace fusescope
