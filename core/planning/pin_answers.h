#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "planning/plan.h"

namespace fusescope {

/// What became of a wish for a type. "Prefer" and "obey" are refused alike; the decision's code tells them apart.
enum class PinAnswer { Free, Price, Granted, Refused, Nothing };
std::string_view name(PinAnswer answer);  ///< "free", "price", "granted", "refused", "nothing_to_pin"

/// Granted: the node's own word, which Free or Price follows for the directive as a whole.
PinAnswer pinAnswerOf(WishOutcome outcome);

/// The answers to directives on this subject: Free and Price in place of Granted where both stand.
std::vector<const WishAnswer*> pinAnswersAbout(const Plan& plan, const Subject& subject);
/// What a decision of the plan, by its index, answers a directive; null: it answers none.
const WishAnswer* answerAt(const Plan& plan, std::uint32_t decision);
/// Whether it says what all pins cost together.
inline bool isOfAllPins(const Plan& plan, std::uint32_t decision) {
  return plan.pinsTogether && plan.pinsTogether->decision == decision;
}
/// message() of a decision of the plan, with no more than three of the kernels that were taken apart, and of a long one
/// its ends alone.
std::string answerText(const Plan& plan, std::uint32_t decision);

}  // namespace fusescope
