#include "planning/pin_answers.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "base/text.h"

namespace fusescope {

namespace {

constexpr std::size_t kMostLost = 3;  ///< kernels taken apart that are named

constexpr auto kAnswers = std::to_array<std::pair<std::string_view, PinAnswer>>({
    {"precision.pin_free", PinAnswer::Free},
    {"precision.pin_price", PinAnswer::Price},
    {"precision.pin_in_floats", PinAnswer::Price},
    {"precision.pin_granted", PinAnswer::Granted},
    {"precision.pin_by_edit", PinAnswer::Granted},
    {"precision.output_granted", PinAnswer::Granted},
    {"precision.output_inner", PinAnswer::Granted},
    {"precision.pin_refused", PinAnswer::Refused},
    {"precision.pin_not_honoured", PinAnswer::Refused},
    {"precision.output_refused", PinAnswer::Refused},
    {"precision.output_not_honoured", PinAnswer::Refused},
    {"precision.overridden", PinAnswer::Refused},
    {"precision.nothing_to_pin", PinAnswer::Nothing},
});

/// "a + b", or "a + … + z (19 nodes)" of a kernel of more than three nodes.
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

std::optional<PinAnswer> pinAnswerOf(std::string_view code) {
  const auto found = std::ranges::find(kAnswers, code, &std::pair<std::string_view, PinAnswer>::first);
  return found == kAnswers.end() ? std::nullopt : std::optional(found->second);
}

std::vector<std::uint32_t> pinAnswersAbout(const Plan& plan, const Subject& subject) {
  std::vector<std::uint32_t> answers;
  std::set<std::string> priced;
  for (std::uint32_t i = 0; i < plan.decisions.size(); ++i) {
    const Decision& decision = plan.decisions[i];
    const auto answer = pinAnswerOf(decision.code);
    if (!answer || std::ranges::find(decision.subjects, subject) == decision.subjects.end()) continue;
    if (*answer == PinAnswer::Free || *answer == PinAnswer::Price) priced.insert(decision.by);
    answers.push_back(i);
  }
  // An edit of the network and an edge that is never stored are words of their own.
  std::erase_if(answers, [&](std::uint32_t i) {
    const Decision& decision = plan.decisions[i];
    const bool plain = decision.code == "precision.pin_granted" || decision.code == "precision.output_granted";
    return plain && priced.contains(decision.by);
  });
  return answers;
}

std::string answerText(const Decision& decision) {
  const auto lost = decision.arguments.find("lost_fusions");
  if (lost == decision.arguments.end() || lost->empty()) return message(decision);
  Decision shorter = decision;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < lost->size() && i < kMostLost; ++i) names.push_back(ends((*lost)[i].get<std::string>()));
  std::string text = joined(names);
  if (lost->size() > kMostLost) text += " and " + std::to_string(lost->size() - kMostLost) + " more";
  shorter.arguments["lost"] = std::move(text);
  return message(shorter);
}

const Decision* pinsTogether(const Plan& plan) {
  const auto found = std::ranges::find(plan.decisions, "precision.pins_together", &Decision::code);
  return found == plan.decisions.end() ? nullptr : &*found;
}

}  // namespace fusescope
