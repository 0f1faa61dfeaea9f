#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_fwd.h"
#include "base/stop.h"
#include "planning/read_back/read_back_plan.h"

namespace fusescope {

/// What happens to a value of a type that a target lacks.
enum class WideFate {
  CastInFront,   ///< accelerated nodes read it after a cast
  HeldNarrow,    ///< a constant that is stored in the narrow type
  MadeNarrow,    ///< it is calculated in the narrow type
  Refused,       ///< a constant that remains wide, because some elements might not survive
  StaysWide,     ///< it remains wide where this is possible: in fallback, in torch, or on a target that has the type
  WideInEngine,  ///< an engine is reported to have it in a wide type that its target lacks
  NotReported    ///< the compiler does not report it
};
std::string_view name(WideFate fate);  ///< "cast_in_front", …

/// What one side does with a value.
struct WideSide {
  WideFate fate = WideFate::NotReported;
  DataType narrow = DataType::Undefined;  ///< the type to which it is narrowed; Undefined if it is not
  std::vector<std::string> where{};       ///< segments of a plan, or kernels of a compiler
  std::string why{};                      ///< further explanations, in words
  std::string text(DataType wide) const;  ///< a text for people: "cast to f32 in front of segment_0"
};

/// A value of a type that the target of one of the two sides lacks.
struct WideValue {
  std::string value, nameInB;  ///< texts of places; they are equal if both plans have one network
  std::string_view role;       ///< "input", "constant", "made"
  DataType type = DataType::Undefined;
  WideSide a, b;
};

struct TruncationDiff {
  std::string a, b;  ///< names of the sides: "torch-tensorrt 2.14.0", "fusescope for tensorrt-rtx"
  std::vector<WideValue> values;
};

/// Returns whether a compiler made `cover` that divides a network into engines for a target
/// (planning/read_back/compiled_engines.h).
bool reportsEngines(const Cover& cover);

/// Returns what both sides do with each value of a type that the target of one of them lacks, graph by graph in the
/// order of the nodes. Values that only A has are left out. It is a pure function and may run on any thread.
TruncationDiff compareTruncation(const Cover& a, const Cover& b);

/// The same comparison between what a compiler of engines made (A) and our own plan for the target of these engines
/// under `directives` (B).
struct TruncationBeside {
  std::shared_ptr<const Plan> ours;
  TruncationDiff diff;
};
/// Returns nothing if `made` has no engines for a target that lacks types, or if the network has no value of such a
/// type. It may run on any thread. Errors: those of makePlan().
Result<std::optional<TruncationBeside>> truncationBeside(const ReadBackPlan& made, const Directives& directives,
                                                         const StopToken& stop = {});

/// Returns the member "truncation" of `fusescope diff --json` and "truncation_beside" of `fusescope plan --json`;
/// diff/FORMAT.md describes it.
Json toJson(const TruncationDiff& diff);
/// Returns lines for people about at most `most` values, or about all if it is 0; empty if there are no values.
std::string printTruncation(const TruncationDiff& diff, std::size_t most = 0);

}  // namespace fusescope
