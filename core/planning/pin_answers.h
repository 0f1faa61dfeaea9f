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

/// The answer that a decision of this code gives; nothing if it is about no pin. Granted: the node's own word, which
/// Free or Price follows for the directive as a whole.
std::optional<PinAnswer> pinAnswerOf(std::string_view code);

/// The decisions that answer a pin on this subject, as indices: Free and Price in place of Granted where both stand.
std::vector<std::uint32_t> pinAnswersAbout(const Plan& plan, const Subject& subject);
/// message(), with no more than three of the kernels that were taken apart, and of a long one its ends alone.
std::string answerText(const Decision& decision);
/// What all pins cost together, or null: fewer than two are granted.
const Decision* pinsTogether(const Plan& plan);

}  // namespace fusescope
