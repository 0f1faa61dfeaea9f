#include "planning/read_back/pins_made.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/json.h"
#include "ir/graph.h"

namespace fusescope {
namespace {

/// Returns the directive with `obey` from which the plan has the type that was asked of the node, or null.
const Directive* obeyDirectiveOf(const Plan& asked, NodeId node) {
  const auto grant = std::ranges::find(asked.precisionMap, node, &PrecisionGrant::node);
  const Directive* directive = grant == asked.precisionMap.end() ? nullptr : findDirective(asked, grant->by);
  return directive != nullptr && directive->strictness == Strictness::Obey ? directive : nullptr;
}

std::string wordsOf(const ReadBackPlan& made, const ReadBackPin& pin) {
  const bool isKnown = pin.result != PinResult::NotDisclosed;
  return fmt::format("must calculate in {}, and {} {}{}{}", toText(pin.asked), made.compiler.name,
                     isKnown ? "does not obey" : "does not say whether it obeys", pin.why.empty() ? "" : ". ", pin.why);
}

}  // namespace

std::vector<UnobeyedPin> unobeyedPins(const Cover& made) {
  std::vector<UnobeyedPin> unobeyed;
  const ReadBackPlan* readBack = asReadBack(made);
  if (readBack == nullptr) return unobeyed;
  for (const ReadBackPin& pin : readBack->pins) {
    if (pin.result == PinResult::Obeyed || pin.result == PinResult::WithoutKernel) continue;
    if (const Directive* directive = obeyDirectiveOf(*readBack->requested, pin.node))
      unobeyed.push_back({.node = made.graph().node(pin.node).name,
                          .by = causeOf(*directive),
                          .result = pin.result,
                          .words = wordsOf(*readBack, pin)});
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
