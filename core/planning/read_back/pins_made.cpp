#include "planning/read_back/pins_made.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/json.h"
#include "ir/graph.h"
#include "planning/directive_map.h"
#include "planning/structure.h"

namespace fusescope {
namespace {

/// Returns the directive with `obey` from which the plan has the type that was asked of the node, or null.
const Directive* obeyDirectiveOf(const Plan& asked, NodeId node) {
  const auto grant = std::ranges::find(asked.precisionMap, node, &PrecisionGrant::node);
  const Directive* directive = grant == asked.precisionMap.end() ? nullptr : findDirective(asked, grant->by);
  return directive != nullptr && directive->strictness == Strictness::Obey ? directive : nullptr;
}

bool isToBeObeyed(const Plan& asked, std::size_t directive) {
  return asked.options.directives[directive].strictness == Strictness::Obey;
}

std::string wordsOf(const ReadBackPlan& made, const OutputTypeMade& type) {
  const std::string does = type.stored == DataType::Undefined ? "does not say in which type it stores it"
                                                              : "stores it in " + toText(type.stored);
  return fmt::format("must be stored in {}, and {} {}", toText(type.asked), made.compiler.name, does);
}

void addUnobeyedTypes(const ReadBackPlan& made, const DirectiveMap& directives, std::vector<UnobeyedPin>& unobeyed) {
  for (const OutputTypeMade& type : outputTypesMade(made, directives)) {
    if (type.stored == type.asked || !isToBeObeyed(*made.requested, type.directive)) continue;
    unobeyed.push_back({.about = Subject::value(made.graph().value(type.value).name),
                        .by = causeOf(made.requested->options.directives[type.directive]),
                        .result = type.stored == DataType::Undefined ? PinResult::NotDisclosed : PinResult::Ignored,
                        .words = wordsOf(made, type)});
  }
}

void addPinsInBodies(const ReadBackPlan& made, const DirectiveMap& directives, std::vector<UnobeyedPin>& unobeyed) {
  for (const BodyPinMade& pin : bodyPinsMade(made, directives)) {
    if (!isToBeObeyed(*made.requested, pin.directive)) continue;
    const Directive& directive = made.requested->options.directives[pin.directive];
    unobeyed.push_back({.about = Subject::node(pin.place),
                        .by = causeOf(directive),
                        .result = PinResult::NotDisclosed,
                        .words = fmt::format("must calculate in {}, and {} does not say in which types the nodes of "
                                             "bodies calculate",
                                             toText(directive.type), made.compiler.name)});
  }
}

std::string wordsOf(const ReadBackPlan& made, const ReadBackPin& pin) {
  const bool isKnown = pin.result != PinResult::NotDisclosed;
  return fmt::format("must calculate in {}, and {} {}{}{}", toText(pin.asked), made.compiler.name,
                     isKnown ? "does not obey" : "does not say whether it obeys", pin.why.empty() ? "" : ". ", pin.why);
}

}  // namespace

std::optional<DirectiveMap> resolvedAgain(const Plan& plan) {
  if (plan.structure == nullptr || plan.options.directives.empty()) return std::nullopt;
  auto resolved = resolveDirectives(*plan.model, plan.target, plan.options.directives);
  return resolved.ok() ? std::optional(std::move(resolved).value()) : std::nullopt;
}

std::vector<OutputTypeMade> outputTypesMade(const ReadBackPlan& made, const DirectiveMap& directives) {
  std::vector<OutputTypeMade> types;
  for (const ValueId value : made.graph().allValues()) {
    const int directive = directives.outputType[value.index];
    if (directive < 0) continue;
    const auto index = static_cast<std::size_t>(directive);
    types.push_back({.value = value,
                     .directive = index,
                     .asked = made.requested->options.directives[index].type,
                     .stored = made.storedType(value)});
  }
  return types;
}

std::vector<BodyPinMade> bodyPinsMade(const ReadBackPlan& made, const DirectiveMap& directives) {
  std::vector<BodyPinMade> pins;
  const Directives& list = made.requested->options.directives;
  for (std::size_t i = 0; i < list.size(); ++i)
    for (const BodyNode& node : directives.inBodiesOf[i])
      if (list[i].kind == DirectiveKind::Pin && made.fateOf(node.holder) != Fate::Fallback)
        pins.push_back({.place = node.place, .directive = i});
  return pins;
}

std::vector<UnobeyedPin> unobeyedPins(const Cover& made) {
  std::vector<UnobeyedPin> unobeyed;
  const ReadBackPlan* readBack = asReadBack(made);
  if (readBack == nullptr) return unobeyed;
  for (const ReadBackPin& pin : readBack->pins) {
    if (pin.result == PinResult::Obeyed || pin.result == PinResult::WithoutKernel) continue;
    if (const Directive* directive = obeyDirectiveOf(*readBack->requested, pin.node))
      unobeyed.push_back({.about = Subject::node(made.graph().node(pin.node).name),
                          .by = causeOf(*directive),
                          .result = pin.result,
                          .words = wordsOf(*readBack, pin)});
  }
  if (const auto directives = resolvedAgain(*readBack->requested)) {
    addUnobeyedTypes(*readBack, *directives, unobeyed);
    addPinsInBodies(*readBack, *directives, unobeyed);
  }
  return unobeyed;
}

Json pinsMadeJson(const Cover& made) {
  Json list = Json::array();
  const ReadBackPlan* readBack = asReadBack(made);
  if (readBack == nullptr) return list;
  for (const ReadBackPin& pin : readBack->pins) {
    Json json = toJson(made.graph(), pin);
    json["node"] = made.graph().node(pin.node).name;
    list.push_back(std::move(json));
  }
  return list;
}

}  // namespace fusescope
