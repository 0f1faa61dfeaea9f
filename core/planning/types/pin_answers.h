#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "planning/plan.h"

namespace fusescope {

/// The result of a directive that asks for a type. "Prefer" and "obey" have the same results; the code of the decision
/// distinguishes them.
enum class PinAnswer { Free, Price, Granted, Refused, Nothing };
std::string_view name(PinAnswer answer);  ///< "free", "price", "granted", "refused", "nothing_to_pin"

/// Granted is the answer for a single node; the answer for the whole directive, Free or Price, follows it.
PinAnswer pinAnswerOf(DirectiveOutcome outcome);

/// Returns the answers to directives about this subject. If there are both Granted and an answer with a cost, only Free
/// or Price is returned.
std::vector<const DirectiveAnswer*> pinAnswersAbout(const Plan& plan, const Subject& subject);
/// Returns the answer to a directive that the decision with this index explains, or null.
const DirectiveAnswer* answerAt(const Plan& plan, std::uint32_t decision);
/// Returns whether the decision gives the cost of all pins together.
inline bool isOfAllPins(const Plan& plan, std::uint32_t decision) {
  return plan.pinsTogether && plan.pinsTogether->decision == decision;
}
/// Returns message() of a decision of the plan, shortened: it lists at most three kernels that were split, and only the
/// first and last node of a long kernel.
std::string answerText(const Plan& plan, std::uint32_t decision);

}  // namespace fusescope
