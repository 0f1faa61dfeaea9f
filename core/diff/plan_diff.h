#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/json_fwd.h"
#include "diff/common_cover.h"
#include "planning/plan.h"
#include "planning/read_back/agreement.h"

namespace fusescope {

/// The source of a time: predicted from measurements on this machine, predicted by a fit to them, measured when the
/// engine was built, or measured when a run was timed.
enum class DiffTimeKind { Measured, Fitted, Built, Run };
std::string_view name(DiffTimeKind kind);  ///< "measured", "fitted", "built", "run"

struct DiffTime {
  double ms = 0;
  DiffTimeKind how = DiffTimeKind::Measured;
};

/// Errors, as max |Δ| over rms; infinite if something became infinite or NaN. `carried` is the error of a value when
/// everything is lowered; `local` is the error that a fused node adds on exact inputs.
struct DiffError {
  std::optional<double> carried, local;  ///< nothing: unknown
};

/// The errors of one side, all measured in the same way.
struct DiffErrors {
  std::string on;                             ///< for people: the inputs, and what the results are compared with
  std::string how;                            ///< equal texts mean the same inputs and the same reference
  std::map<std::string, DiffError> values;    ///< by name
  std::map<Hash128, DiffError> fusedNodes{};  ///< by FusedNode::identity
};

/// One side of a diff: a plan or read-back plan, and further facts about it.
struct DiffInput {
  const Cover* cover = nullptr;         ///< must outlive the PlanDiff
  std::string label;                    ///< the file, for people
  std::map<Hash128, DiffTime> times{};  ///< by FusedNode::identity; they replace the predictions of the plan
  std::vector<DiffErrors> errors{};     ///< the latest last; only errors that were measured in the same way on both
                                        ///< sides are compared
};

/// The totals of a side; each body is counted as if it ran once.
struct DiffTotals {
  std::string label, target, precision;
  std::string compiler{};  ///< the compiler and its version for a read-back plan; empty: our own plan
  std::int64_t nodes = 0, fusedNodes = 0, segments = 0, casts = 0;
  std::int64_t bytes = 0, castBytes = 0;  ///< moved by fused nodes, and by casts; unknown bytes count as 0
  std::optional<DiffTime> time;           ///< the time of the plan; nothing if a part of it is unknown
  std::string errorsOn{};                 ///< DiffErrors::on of the compared errors; empty: none
};

enum class DifferenceKind {
  Compiler,  ///< another compiler, version or environment, or other answers about nodes
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

/// A difference between the inputs of the two plans, which may have caused differences between the plans.
struct Difference {
  DifferenceKind kind;
  std::string a, b;          ///< in the words of the command line; empty: that side does not have it
  std::string text() const;  ///< "--pin a=f32 (only in B)", "--precision f32 → f16"
};

/// The causes of a change, as texts of differences. If there are several, they caused it together, or each of them did.
/// Empty: unknown.
using Causes = std::vector<std::string>;
/// The reason why a change has no cause if PlanDiff::causesKnown is false.
inline constexpr const char* kCausesNotDisclosed = "a compiler that is not ours does not say why";

/// The place of a change: the segment, with A's name if A has it, or "HOLDER/ATTRIBUTE: SEGMENT" in a body.
struct ChangePlace {
  std::string segment;
};

enum class GroupChange { Formed, Broken, Split, Merged, Moved, Rerouted };
std::string_view name(GroupChange change);  ///< "formed", …

/// Fused nodes that cover the same nodes differently, as far as both sides have kernels for them. Formed: from nodes
/// that ran separately, or that only B has. Broken: into nodes that run separately, or that only A has. Moved: a border
/// between them is elsewhere, or so is a difference of the networks.
struct FusionChange {
  GroupChange change;
  std::vector<CoveringNode> a, b;
  std::vector<std::string> nodes;  ///< with A's names where A has them
  ChangePlace place;
  Causes because;
  std::vector<std::string> reported{};  ///< reportedFacts(), if a side is a read-back plan
};

/// A node of both networks with different fates, if a side is a read-back plan.
struct FateChange {
  std::string node;  ///< A's name
  std::string a, b;  ///< "kernel", "folded", "not disclosed"; for our own plan "kernel", "view" or "fallback"
  ChangePlace place;
  Causes because{};
};

/// Segments that cover the same nodes differently, or that something else runs (rerouted).
struct SegmentChange {
  GroupChange change;
  std::vector<std::string> a, b;   ///< "segment_0 (accelerated, native)"
  std::vector<std::string> nodes;  ///< the nodes that something else runs
  std::string runByA, runByB;      ///< what runs these nodes on each side, "accelerated, native"; empty: there are none
  ChangePlace place;
  Causes because;
};

enum class TypedThing { FusedNode, Node, Value };
std::string_view name(TypedThing thing);  ///< "fused_node", "node", "value"

/// A fused node or node that calculates in another type, or a value in memory on both sides with another stored type.
struct TypeChange {
  TypedThing thing;
  std::string name, nameInB;  ///< equal if both plans are of one network
  std::string a, b;           ///< "f32", or "f32, f16" for a fused node with mixed types
  bool inSameKernel = false;  ///< true for a node of a fused node that both sides have and that is listed itself
  ChangePlace place;
  Causes because;
};

/// A conversion that only one side has.
struct CastChange {
  bool added = false;  ///< true: only in B; false: only in A
  std::string value;
  DataType from = DataType::Undefined, to = DataType::Undefined;
  std::optional<std::int64_t> bytes;
  std::optional<DiffTime> time;  ///< its predicted time
  std::string reason;
  ChangePlace place;
  Causes because;
};

/// A decision that differs: one that only A or only B has, or two different ones about the same subject.
struct DecisionChange {
  const Decision* a = nullptr;  ///< points into DiffInput::cover; null: only B has it
  const Decision* b = nullptr;
  std::uint32_t indexInB = 0;  ///< the index of b in its plan
  BodyPath body{};             ///< PlanLevel::path()
  Causes because;
};

/// Fused nodes that cover the same nodes and whose times are known on both sides and differ.
struct TimeChange {
  std::vector<CoveringNode> a, b;
  DiffTime ofA, ofB;
};

/// A value, or fused nodes that cover the same nodes, whose errors are known on both sides and differ. For several
/// fused nodes it is the worst error.
struct ErrorChange {
  std::string name;                          ///< A's name of the value, or the names of all fused nodes
  bool isOutput = false;                     ///< the value is an output of the network
  std::vector<CoveringNode> ofA, ofB;        ///< empty for a value
  double a = 0, b = 0;                       ///< DiffError::carried
  std::optional<double> localOfA, localOfB;  ///< set if both sides know it
};

/// A matched node that differs between the networks.
struct ChangedNode {
  std::string a, b;  ///< names
  std::string what;
};

/// A constant with the same type but other elements in B.
struct ConstantChange {
  std::string a, b;  ///< names; for a constant in a body "HOLDER/NAME"
  std::string type;  ///< "f32[64, 3, 7, 7]", "int64[600]"
  std::int64_t elements = 0, differing = 0;
  /// max |Δ|, and max |Δ| over the rms of A's elements; infinite if only one side is finite. Nothing for text.
  std::optional<double> maxAbs, maxOverRms;
  std::vector<CoveringNode> readersOfA, readersOfB;  ///< fused nodes that contain readers of it
};

/// How well one side, our plan for a compiler or for its target, predicted what this compiler made, which is the other
/// side.
struct PredictionOfSide {
  bool isA = true;  ///< A is the prediction and B the fact; false: the reverse
  Agreement agreement;
};

struct PlanDiff {
  DiffTotals a, b;
  std::optional<PredictionOfSide> prediction;  ///< nothing: no side is a prediction of the other
  bool errorsAlike = false;                    ///< the errors of both sides were measured in the same way
  bool oneNetwork = true;                      ///< true: nodes were matched by their ids
  std::int64_t matched = 0, byName = 0, byStructure = 0;
  std::vector<std::string> onlyA, onlyB;  ///< nodes without a counterpart
  std::vector<ChangedNode> changed;
  std::vector<ConstantChange> constants;  ///< the largest `maxOverRms` first
  std::int64_t constantsNotCompared = 0;  ///< because one side has no data for them
  std::vector<Difference> differences;
  /// false: another compiler made a side, and nothing shows what caused the changes without a cause; see
  /// kCausesNotDisclosed.
  bool causesKnown = true;
  std::vector<FusionChange> fusions;
  std::vector<FateChange> fates;
  std::vector<SegmentChange> segments;
  std::vector<TypeChange> types;
  std::vector<CastChange> casts;
  std::vector<DecisionChange> decisions;
  std::vector<TimeChange> times;
  std::vector<ErrorChange> errors;

  /// Returns whether only times and errors differ.
  bool same() const;
  /// Returns whether another compiler made a side.
  bool isReadBack() const { return !a.compiler.empty() || !b.compiler.empty(); }
};

/// Returns sentences about PlanDiff::prediction; none if no side is a prediction of the other.
std::vector<std::string> predictionTexts(const PlanDiff& diff);

/// Returns the JSON of `fusescope diff --json`: format "fusescope.diff", version 1. diff/FORMAT.md describes it.
Json toJson(const PlanDiff& diff);
/// Returns text for people: totals, the differences between networks and options, then the changes by segment, each
/// line preceded by "+", "-" or "~". Of similar changes at most `most` are listed, followed by the number of others; 0:
/// all.
std::string printDiff(const PlanDiff& diff, std::size_t most = 0);

}  // namespace fusescope
