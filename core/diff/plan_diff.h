#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/stop.h"
#include "diff/common_cover.h"
#include "planning/plan.h"

namespace fusescope {

/// How a time is known: predicted from measurements of this machine, predicted by what was fitted to them, measured
/// when the engine was built, or when a run was timed.
enum class DiffTimeKind { Measured, Fitted, Built, Run };
std::string_view name(DiffTimeKind kind);  ///< "measured", "fitted", "built", "run"

struct DiffTime {
  double ms = 0;
  DiffTimeKind how = DiffTimeKind::Measured;
};

/// max |Δ| over rms, infinite where anything became infinite or NaN: of what stands there when everything is lowered,
/// and of what a fused node does to exact inputs.
struct DiffError {
  std::optional<double> carried, local;  ///< nothing: not known
};

/// Errors of one side, all measured in the same way.
struct DiffErrors {
  std::string on;                             ///< for people: the inputs, and what they are held against
  std::string how;                            ///< equal texts: measured on the same inputs and held against the same
  std::map<std::string, DiffError> values;    ///< by name
  std::map<Hash128, DiffError> fusedNodes{};  ///< by FusedNode::identity
};

/// One side of a diff: a plan, ours or read back, and what else is known of it.
struct DiffInput {
  const Cover* cover = nullptr;         ///< outlives the PlanDiff
  std::string label;                    ///< for people: the file
  std::map<Hash128, DiffTime> times{};  ///< by FusedNode::identity, in place of what the plan predicts
  std::vector<DiffErrors> errors{};     ///< the newest last; those count that were measured alike on both sides
};

/// A side in numbers; each body as if it ran once.
struct DiffTotals {
  std::string label, target, precision;
  std::string compiler{};  ///< that it is read back from, and its version; empty: a plan of ours
  std::int64_t nodes = 0, fusedNodes = 0, segments = 0, casts = 0;
  std::int64_t bytes = 0, castBytes = 0;  ///< moved by fused nodes, and by casts; what is not known counts as 0
  std::optional<DiffTime> time;           ///< of the plan; nothing unless each of its parts is known
  std::string errorsOn{};                 ///< DiffErrors::on of those that are compared; empty: none
};

enum class DifferenceKind {
  Compiler,  ///< another one, another version or environment of it, or what it says of the nodes
  Target,
  Precision,
  Workspace,
  Ranges,
  WeightOnly,
  Directive,
  DirectiveOrder,
  Network,
  Inputs,
  Times,
  Rules
};
std::string_view name(DifferenceKind kind);  ///< "target", "directive", …

/// What the two plans were made of that is not the same: what can have caused the differences between them.
struct Difference {
  DifferenceKind kind;
  std::string a, b;          ///< in the words of the command line; empty: that side has none
  std::string text() const;  ///< "--pin a=f32 (only in B)", "--precision f32 → f16"
};

/// What caused a change: texts of differences; several: it came of them together, or of each of them. Empty: not known.
using Causes = std::vector<std::string>;
/// Why no causes are named where PlanDiff::causesKnown is false.
inline constexpr const char* kCausesNotDisclosed = "a compiler that is not ours does not say why";

/// Where a change shows: the segment, by A's name where it has one there, or "HOLDER/ATTRIBUTE: SEGMENT" in a body.
struct ChangePlace {
  std::string segment;
};

enum class GroupChange { Formed, Broken, Split, Merged, Moved, Rerouted };
std::string_view name(GroupChange change);  ///< "formed", …

/// Fused nodes that cover the same nodes in other ways, as far as both sides have a kernel for them. Formed: of nodes
/// that ran alone, or that only B has; broken: into nodes that run alone, or that only A has; moved: a border between
/// them, or what the networks differ by, is elsewhere.
struct FusionChange {
  GroupChange change;
  std::vector<CoveringNode> a, b;
  std::vector<std::string> nodes;  ///< by A's names where it has them
  ChangePlace place;
  Causes because;
  std::vector<std::string> told{};  ///< toldFacts(): where a side is read back
};

/// A node of both networks of which something else becomes, where a side is read back.
struct FateChange {
  std::string node;  ///< by A's name
  std::string a, b;  ///< "kernel", "folded", "not disclosed"; of a plan of ours "kernel", "view" or "fallback"
  ChangePlace place;
  Causes because{};
};

/// Segments that cover the same nodes in other ways, or are run by something else (rerouted).
struct SegmentChange {
  GroupChange change;
  std::vector<std::string> a, b;   ///< "segment_0 (accelerated, native)"
  std::vector<std::string> nodes;  ///< that are run by something else
  std::string runByA, runByB;      ///< what these nodes are run by: "accelerated, native"; empty: there are none
  ChangePlace place;
  Causes because;
};

enum class TypedThing { FusedNode, Node, Value };
std::string_view name(TypedThing thing);  ///< "fused_node", "node", "value"

/// A fused node or node that calculates in another type, or a value in memory on both sides that is stored at another.
struct TypeChange {
  TypedThing thing;
  std::string name, nameInB;  ///< equal in plans of one network
  std::string a, b;           ///< "f32", "f32, f16" of a fused node that mixes types
  bool inSameKernel = false;  ///< a node of a fused node that both have and that is listed itself
  ChangePlace place;
  Causes because;
};

/// A conversion that one side alone has.
struct CastChange {
  bool added = false;  ///< in B; else it is A's
  std::string value;
  DataType from = DataType::Undefined, to = DataType::Undefined;
  std::optional<std::int64_t> bytes;
  std::optional<DiffTime> time;  ///< that is predicted for it
  std::string reason;
  ChangePlace place;
  Causes because;
};

/// An answer that is another: of A, of B, or of both about the same.
struct DecisionChange {
  const Decision* a = nullptr;  ///< in DiffInput::cover; null: B alone has it
  const Decision* b = nullptr;
  std::uint32_t indexInB = 0;  ///< of b in its plan
  BodyPath body{};             ///< PlanLevel::path()
  Causes because;
};

/// Fused nodes that cover the same nodes, whose times both sides know and that are not equal.
struct TimeChange {
  std::vector<CoveringNode> a, b;
  DiffTime ofA, ofB;
};

/// A value, or fused nodes that cover the same nodes, whose errors both sides know and that are not equal: of several
/// fused nodes the worst.
struct ErrorChange {
  std::string name;                          ///< of a value by A's name; of fused nodes all of them
  bool isOutput = false;                     ///< a value that the network gives
  std::vector<CoveringNode> ofA, ofB;        ///< empty: a value
  double a = 0, b = 0;                       ///< DiffError::carried
  std::optional<double> localOfA, localOfB;  ///< where both know it
};

/// A matched node that differs between the networks.
struct ChangedNode {
  std::string a, b;  ///< names
  std::string what;
};

/// A constant of one type on both sides whose elements are others in B.
struct ConstantChange {
  std::string a, b;  ///< names; of a constant in a body "HOLDER/NAME"
  std::string type;  ///< "f32[64, 3, 7, 7]", "int64[600]"
  std::int64_t elements = 0, differing = 0;
  /// max |Δ|, and that over the rms of A's elements; infinite where one side alone is not finite. Nothing: text.
  std::optional<double> maxAbs, maxOverRms;
  std::vector<CoveringNode> readersOfA, readersOfB;  ///< fused nodes that hold nodes which read it
};

struct PlanDiff {
  DiffTotals a, b;
  bool errorsAlike = false;  ///< the errors of both were measured alike
  bool oneNetwork = true;    ///< nodes were matched by their ids
  std::int64_t matched = 0, byName = 0, byStructure = 0;
  std::vector<std::string> onlyA, onlyB;  ///< nodes without a counterpart
  std::vector<ChangedNode> changed;
  std::vector<ConstantChange> constants;  ///< the largest `maxOverRms` first
  std::int64_t constantsNotCompared = 0;  ///< one side has no data for them
  std::vector<Difference> differences;
  /// False: another compiler made a side, and nothing else tells what caused a change; see kCausesNotDisclosed.
  bool causesKnown = true;
  std::vector<FusionChange> fusions;
  std::vector<FateChange> fates;
  std::vector<SegmentChange> segments;
  std::vector<TypeChange> types;
  std::vector<CastChange> casts;
  std::vector<DecisionChange> decisions;
  std::vector<TimeChange> times;
  std::vector<ErrorChange> errors;

  /// Nothing but times and errors differs.
  bool same() const;
  /// Whether another compiler made a side.
  bool isReadBack() const { return !a.compiler.empty() || !b.compiler.empty(); }
};

/// What differs, and why. Pure, but for `prices`, with which plans are made again to find causes; null: where types or
/// fusions were chosen by price, no cause is found by that. Another compiler is asked nothing: where one made both
/// sides, of inputs that differ in one thing, that thing caused everything; else causes are not known.
/// Errors: cancelled.
Result<PlanDiff> diffPlans(const DiffInput& a, const DiffInput& b, const PriceModel* prices = nullptr,
                           const StopToken& stop = {});
/// What differs between two plans, without causes: quick.
PlanDiff changesBetween(const DiffInput& a, const DiffInput& b);

/// The JSON of `fusescope diff --json`: format "fusescope.diff", version 1. See diff/FORMAT.md.
Json toJson(const PlanDiff& diff);
/// As text for people: totals, what the networks and options differ by, then the changes by segment, each line with
/// "+", "-" or "~" before it. Of changes alike `most` are listed, and how many more there are; 0: all.
std::string printDiff(const PlanDiff& diff, std::size_t most = 0);

}  // namespace fusescope
