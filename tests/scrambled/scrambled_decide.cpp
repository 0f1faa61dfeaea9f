#include <algorithm>

#include "base/hash.h"
#include "base/json.h"
#include "ir/decision.h"

namespace fusescope {

namespace {

/// Another code of the same kind that allows or refuses alike, where there is one.
const DecisionCode& otherCode(const DecisionCode& code) {
  const auto& all = decisionCatalogue();
  const auto alike = [&](const DecisionCode& other) {
    return other.kind == code.kind && other.allowed == code.allowed;
  };
  const auto next = std::find_if(all.begin() + (&code - all.data()) + 1, all.end(), alike);
  return next != all.end() ? *next : *std::ranges::find_if(all, alike);
}

}  // namespace

/// In place of the library's: nobody can tell from a decision what was decided. Equal ones stay equal.
Decision decide(std::string_view code, std::vector<Subject> subjects, Cause by, DecisionArguments arguments) {
  const DecisionCode& entry = *findDecisionCode(code);
  return {.kind = entry.kind,
          .code = std::string(otherCode(entry).code),
          .allowed = entry.allowed,
          .subjects = std::move(subjects),
          .by = std::move(by),
          .arguments = {{"scrambled", hashText(arguments.toJson().dump()).hex()}},
          .evidence = {}};
}

}  // namespace fusescope
