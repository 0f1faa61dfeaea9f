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
  /// Kernels that would exist without the directives, and do not exist with them.
  std::vector<std::string> lostFusions;
  std::int64_t kernels = 0;                   ///< number of additional kernels
  std::int64_t casts = 0;                     ///< number of additional casts
  std::optional<std::int64_t> bytes = 0;      ///< additional bytes that are moved; null if an extent is unknown
  std::optional<std::int64_t> castBytes = 0;  ///< the part of `bytes` that casts move; kernels move the rest
  bool free() const { return lostFusions.empty() && kernels <= 0 && casts <= 0 && bytes.value_or(0) <= 0; }
};

// These functions add and subtract bytes; the result is null if an operand is.
inline std::optional<std::int64_t> sumOf(std::optional<std::int64_t> a, std::optional<std::int64_t> b) {
  return a && b ? std::optional(*a + *b) : std::nullopt;
}
inline std::optional<std::int64_t> differenceOf(std::optional<std::int64_t> a, std::optional<std::int64_t> b) {
  return a && b ? std::optional(*a - *b) : std::nullopt;
}

/// The result of a directive that asks for a type. The first three values are about a directive as a whole, the others
/// about one place.
enum class DirectiveOutcome {
  Free,
  Price,
  InFloats,     ///< it prevents the use of quantised codes
  Granted,      ///< the node calculates in the type
  ByEdit,       ///< the node calculates in the type after an edit of the network
  Stored,       ///< the value is stored in the type
  Inner,        ///< the value would be stored in the type, but is never stored
  Refused,      ///< the directive has `obey`
  NotHonoured,  ///< the directive has `prefer`
  Overridden,   ///< by another directive of any kind
  Nothing       ///< there is nothing to pin
};

/// The result of a directive at a place or as a whole, and the decision that explains it to people.
struct DirectiveAnswer {
  Cause directive{};
  DirectiveOutcome outcome;
  std::vector<Subject> about{};
  std::optional<NetworkPlace> value{};  ///< for a directive in force that asks for a stored type
  std::optional<DirectiveCost> cost{};  ///< for Free and Price
  std::uint32_t decision = 0;           ///< an index into the list of decisions of the same plan or step
};

/// The cost of all pins of a plan together, if there are several.
struct PinsTogether {
  std::size_t pins = 0;
  DirectiveCost all;           ///< includes pins in bodies
  DirectiveCost shared;        ///< the sum of the single costs minus the cost together
  std::uint32_t decision = 0;  ///< the index of the decision that explains it to people
};

/// The decisions of a step, and the answers to directives that some of them are.
struct Explanations {
  std::vector<Decision> decisions;
  std::vector<DirectiveAnswer> answers;  ///< in the order of their decisions

  void add(Decision decision) { decisions.push_back(std::move(decision)); }
  /// Adds a decision that answers the directive which is its cause. `answer` has the outcome, value and cost.
  void add(Decision decision, DirectiveAnswer answer);
};

}  // namespace fusescope
