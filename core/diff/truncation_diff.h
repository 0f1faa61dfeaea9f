#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_fwd.h"
#include "base/stop.h"
#include "planning/read_back_plan.h"

namespace fusescope {

/// What becomes of a value of a type that a target lacks.
enum class WideFate {
  CastInFront,   ///< what is accelerated reads it after a cast, which stands in front of it
  HeldNarrow,    ///< a constant that is held in the narrow type
  MadeNarrow,    ///< it is made in the narrow type
  Refused,       ///< a constant that stays wide, since not every element is known to survive
  StaysWide,     ///< it stays wide where that is possible: in fallback, in torch, on a target that has the type
  WideInEngine,  ///< an engine is said to have it wide, in a type that its target lacks
  NotTold        ///< the compiler does not say
};
std::string_view name(WideFate fate);  ///< "cast_in_front", …

/// What one side does with a value.
struct WideSide {
  WideFate fate = WideFate::NotTold;
  DataType narrow = DataType::Undefined;  ///< the type that it is narrowed to; Undefined: it is not
  std::vector<std::string> where{};       ///< segments of a plan, kernels of a compiler
  std::string why{};                      ///< what else is known, in words
  std::string text(DataType wide) const;  ///< for people: "cast to f32 in front of segment_0"
};

/// A value whose type a target of the two sides lacks.
struct WideValue {
  std::string value, nameInB;  ///< texts of places; equal in plans of one network
  std::string_view role;       ///< "input", "constant", "made"
  DataType type = DataType::Undefined;
  WideSide a, b;
};

struct TruncationDiff {
  std::string a, b;  ///< whose: "torch-tensorrt 2.14.0", "fusescope for tensorrt-rtx"
  std::vector<WideValue> values;
};

/// Whether a compiler made `cover` that divides a network into engines for a target (planning/told_engines.h).
bool tellsEngines(const Cover& cover);

/// What both sides do with each value of a type that the target of one of them lacks, body by body in the order of the
/// graph; a value of A that B has not is left out. Pure; any thread.
TruncationDiff compareTruncation(const Cover& a, const Cover& b);

/// The same of what a compiler of engines made (A), and of our own plan for the target of these engines under
/// `directives` (B).
struct TruncationBeside {
  std::shared_ptr<const Plan> ours;
  TruncationDiff diff;
};
/// Nothing: `made` has no engines for a target that lacks types, or the network has no value of such a type. Any
/// thread. Errors: those of makePlan().
Result<std::optional<TruncationBeside>> truncationBeside(const ReadBackPlan& made, const Directives& directives,
                                                         const StopToken& stop = {});

/// "truncation" of `fusescope diff --json`, "truncation_beside" of `fusescope plan --json`: see diff/FORMAT.md.
Json toJson(const TruncationDiff& diff);
/// As lines for people, of at most `most` values; 0: all. Empty where there is no value.
std::string printTruncation(const TruncationDiff& diff, std::size_t most = 0);

}  // namespace fusescope
