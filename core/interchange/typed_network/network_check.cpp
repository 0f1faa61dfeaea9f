#include "interchange/typed_network/network_check.h"

#include <fmt/format.h>

#include <functional>
#include <set>

#include "planning/structure.h"

namespace fusescope {
namespace {

/// Calls `visit` for each real float of the plan that both graphs have by name: value, type in the plan, in the
/// reading.
void forStored(const Plan& plan, const TypedNetwork& network, const Plan& reading,
               const std::function<void(const Value&, DataType, const Value&, DataType)>& visit) {
  std::set<ValueId> inner;
  for (const FusedNode& fused : reading.fusedNodes)
    for (const InnerEdge& edge : fused.innerEdges)
      if (!edge.real) inner.insert(edge.value);
  for (const FusedNode& fused : plan.fusedNodes) {
    for (const FusedOutput& output : fused.outputs) {
      const Value& value = plan.graph().value(output.value);
      const auto name = network.storedAs.find(value.name);
      if (!isExchangeable(output.type) || value.type.container != Container::None || name == network.storedAs.end())
        continue;
      const auto other = reading.graph().findValue(name->second);
      if (!other || inner.contains(*other) || reading.graph().isConstant(*other)) continue;
      visit(value, output.type, reading.graph().value(*other), reading.storedType(*other));
    }
  }
}

PlanOptions withoutTypes(const PlanOptions& options) {
  PlanOptions kept = options;
  kept.precisions.clear();
  std::erase_if(kept.directives, [](const Directive& directive) {
    return asksForAType(directive) || directive.kind == DirectiveKind::Split ||
           directive.kind == DirectiveKind::NoFuse || directive.kind == DirectiveKind::Tactic;
  });
  return kept;
}

}  // namespace

Result<std::shared_ptr<const Plan>> planOfExported(const Plan& plan, std::shared_ptr<const Model> exported,
                                                   const StopToken& stop) {
  return makePlan(std::move(exported), withoutTypes(plan.options), nullptr, stop);
}

std::optional<Diagnostic> otherStoredType(const Plan& plan, const TypedNetwork& network, const Plan& reading) {
  std::optional<Diagnostic> first;
  std::size_t others = 0;
  forStored(plan, network, reading, [&](const Value& value, DataType planned, const Value&, DataType read) {
    if (planned == read) return;
    ++others;
    if (!first)
      first = Diagnostic{.message = fmt::format(
                             "is stored as {} in the plan, but as {} in the exported network when that is read again",
                             name(planned), name(read)),
                         .where = {.value = value.name}};
  });
  if (others > 1) first->message += fmt::format("; the same is true of {} other values", others - 1);
  return first;
}

std::int64_t comparedStoredTypes(const Plan& plan, const TypedNetwork& network, const Plan& reading) {
  std::int64_t count = 0;
  forStored(plan, network, reading, [&](const Value&, DataType, const Value&, DataType) { ++count; });
  return count;
}

}  // namespace fusescope
