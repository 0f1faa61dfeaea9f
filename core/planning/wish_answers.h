#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ir/decision.h"

namespace fusescope {

/// The cost of directives: the plan with these directives minus the plan without them, with all other directives
/// unchanged.
struct DirectiveCost {
  std::vector<std::string> lostFusions;       ///< kernels that would be without them and are not
  std::int64_t kernels = 0;                   ///< more than without
  std::int64_t casts = 0;                     ///< more than without
  std::optional<std::int64_t> bytes = 0;      ///< moved more than without; null: an extent is unknown
  std::optional<std::int64_t> castBytes = 0;  ///< of these by casts, the others by kernels
  bool free() const { return lostFusions.empty() && kernels <= 0 && casts <= 0 && bytes.value_or(0) <= 0; }
};

// Of bytes; known where both are.
inline std::optional<std::int64_t> sumOf(std::optional<std::int64_t> a, std::optional<std::int64_t> b) {
  return a && b ? std::optional(*a + *b) : std::nullopt;
}
inline std::optional<std::int64_t> differenceOf(std::optional<std::int64_t> a, std::optional<std::int64_t> b) {
  return a && b ? std::optional(*a - *b) : std::nullopt;
}

/// What became of a wish for a type. The first three speak of a directive as a whole, the others of one place.
enum class WishOutcome {
  Free,
  Price,
  InFloats,     ///< it keeps codes out of the network
  Granted,      ///< the node calculates in the type
  ByEdit,       ///< likewise, by an edit of the network
  Stored,       ///< the value is stored in the type
  Inner,        ///< the value would be, but is never stored
  Refused,      ///< though it says obey
  NotHonoured,  ///< it prefers the type
  Overridden,   ///< by another directive, of whatever kind
  Nothing       ///< there is nothing to pin
};

/// What became of a directive at a place, or as a whole, and the decision that says so to people.
struct WishAnswer {
  Cause directive{};
  WishOutcome outcome;
  std::vector<Subject> about{};
  std::optional<NetworkPlace> value{};  ///< of a wish for a stored type that is in force
  std::optional<DirectiveCost> cost{};  ///< Free and Price
  std::uint32_t decision = 0;           ///< an index into the same list of decisions
};

/// What all pins of a plan, of which there are several, cost together.
struct PinsTogether {
  std::size_t pins = 0;
  DirectiveCost all;           ///< those in bodies included
  DirectiveCost shared;        ///< what it is less than the sum of the single costs
  std::uint32_t decision = 0;  ///< that says so to people
};

/// The decisions of a step, and which of them answer what directives wish.
struct Explanations {
  std::vector<Decision> decisions;
  std::vector<WishAnswer> answers;  ///< in the order of their decisions

  void add(Decision decision) { decisions.push_back(std::move(decision)); }
  /// A decision that answers the directive that it is by. `answer` gives the outcome, value and cost.
  void add(Decision decision, WishAnswer answer);
};

}  // namespace fusescope
