#include "planning/types/pin_answers.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/text.h"

namespace fusescope {

namespace {

constexpr std::size_t kMostLost = 3;  ///< kernels taken apart that are named

/// Returns "a + b", or "a + … + z (19 nodes)" if the kernel has more than three nodes.
std::string ends(const std::string& kernel) {
  constexpr std::string_view kAnd = " + ";
  const std::size_t first = kernel.find(kAnd), last = kernel.rfind(kAnd);
  std::size_t nodes = 1;
  for (std::size_t at = first; at != std::string::npos; at = kernel.find(kAnd, at + kAnd.size())) ++nodes;
  if (nodes <= 3) return kernel;
  return kernel.substr(0, first) + " + … + " + kernel.substr(last + kAnd.size()) + " (" + std::to_string(nodes) +
         " nodes)";
}

}  // namespace

std::string_view name(PinAnswer answer) {
  switch (answer) {
    case PinAnswer::Free:
      return "free";
    case PinAnswer::Price:
      return "price";
    case PinAnswer::Granted:
      return "granted";
    case PinAnswer::Refused:
      return "refused";
    case PinAnswer::Nothing:
      return "nothing_to_pin";
  }
  return {};
}

PinAnswer pinAnswerOf(DirectiveOutcome outcome) {
  switch (outcome) {
    case DirectiveOutcome::Free:
      return PinAnswer::Free;
    case DirectiveOutcome::Price:
    case DirectiveOutcome::InFloats:
      return PinAnswer::Price;
    case DirectiveOutcome::Granted:
    case DirectiveOutcome::ByEdit:
    case DirectiveOutcome::Stored:
    case DirectiveOutcome::Inner:
      return PinAnswer::Granted;
    case DirectiveOutcome::Refused:
    case DirectiveOutcome::NotHonoured:
    case DirectiveOutcome::Overridden:
      return PinAnswer::Refused;
    case DirectiveOutcome::Nothing:
      return PinAnswer::Nothing;
  }
  return PinAnswer::Nothing;
}

std::vector<const DirectiveAnswer*> pinAnswersAbout(const Plan& plan, const Subject& subject) {
  std::vector<const DirectiveAnswer*> answers;
  std::set<Cause> priced;
  for (const DirectiveAnswer& answer : plan.answers) {
    if (std::ranges::find(answer.about, subject) == answer.about.end()) continue;
    const PinAnswer said = pinAnswerOf(answer.outcome);
    if (said == PinAnswer::Free || said == PinAnswer::Price) priced.insert(answer.directive);
    answers.push_back(&answer);
  }
  // An edit of the network, and an edge that is never stored, are answers of their own.
  std::erase_if(answers, [&](const DirectiveAnswer* answer) {
    const bool plain = answer->outcome == DirectiveOutcome::Granted || answer->outcome == DirectiveOutcome::Stored;
    return plain && priced.contains(answer->directive);
  });
  return answers;
}

const DirectiveAnswer* answerAt(const Plan& plan, std::uint32_t decision) {
  const auto answer = std::ranges::lower_bound(plan.answers, decision, {}, &DirectiveAnswer::decision);
  return answer != plan.answers.end() && answer->decision == decision ? &*answer : nullptr;
}

std::string answerText(const Plan& plan, std::uint32_t decision) {
  const DirectiveAnswer* answer = answerAt(plan, decision);
  const DirectiveCost* cost = answer != nullptr && answer->cost ? &*answer->cost : nullptr;
  if (isOfAllPins(plan, decision)) cost = &plan.pinsTogether->all;
  Decision shorter = plan.decisions[decision];
  if (cost == nullptr || cost->lostFusions.empty()) return message(shorter);
  const std::vector<std::string>& lost = cost->lostFusions;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < lost.size() && i < kMostLost; ++i) names.push_back(ends(lost[i]));
  std::string text = joined(names);
  if (lost.size() > kMostLost) text += " and " + std::to_string(lost.size() - kMostLost) + " more";
  shorter.arguments["lost"] = std::move(text);
  return message(shorter);
}

}  // namespace fusescope
