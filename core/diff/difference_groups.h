#pragma once

#include <optional>
#include <string>
#include <vector>

#include "diff/plan_diff.h"

namespace fusescope {

/// What a group of differences is about, in the order in which groups of equal cost are listed.
enum class DifferenceTopic { Network, Segments, Fusion, Types, Conversion, Stored, Fate, Time };
std::string_view name(DifferenceTopic topic);  ///< "network", "segments", …

/// One place at which a difference of a group is.
struct DifferenceSite {
  std::string name;                          ///< for people: of the kernels, the node or the value
  std::vector<std::string> nodes;            ///< that it is about, by A's names where it has them
  std::vector<CoveringNode> a, b;            ///< the kernels that it is about; empty: of nodes or values
  std::string block;                         ///< the copy of a repeated block that it is in: "layer.3"; empty: in none
  std::optional<DiffTime> ofA, ofB;          ///< what these kernels or conversions take, where all is known
  std::optional<double> errorOfA, errorOfB;  ///< ErrorChange::a and b of them, where both are known and differ
};

/// Differences that are one: of one kind and cause, in one block of the network, and in all copies of it where the
/// block is repeated.
struct DifferenceGroup {
  DifferenceTopic topic = DifferenceTopic::Fusion;
  char sign = '~';     ///< '-': only in A, '+': only in B, '~': another
  std::string what;    ///< "one kernel → three: Gelu apart", "f32 → f16"
  std::string detail;  ///< of a fusion what is apart or taken in: "Gelu apart"; else empty
  Causes because;
  std::string block;               ///< the block that all sites are in, as Module::title; empty: they are in none
  std::size_t copies = 0, of = 0;  ///< in how many equal blocks it is, of how many there are; 0: in no repeated one
  std::vector<DifferenceSite> sites;
  std::optional<DiffTime> ofA, ofB;          ///< of all sites together, where all of them are known
  std::optional<double> errorOfA, errorOfB;  ///< of the site whose error is worst on either side

  std::optional<double> deltaMs() const;  ///< B less A
};

/// The differences that `diff` of `a` and `b` lists, grouped: those that cost or gain most time first, then by topic
/// and in the order of the graph. Kernels that only take another time, which measuring alone may do, come last.
/// Decisions explain differences and are none. Pure; any thread; about linear in the nodes.
std::vector<DifferenceGroup> groupDifferences(const DiffInput& a, const DiffInput& b, const PlanDiff& diff);

/// In which block, and in how many copies of it: "layer.0…11, the same in ×12"; empty: in none.
std::string placeText(const DifferenceGroup& group);
/// The `groups` of `fusescope diff --json`: see diff/FORMAT.md.
Json toJson(const std::vector<DifferenceGroup>& groups);
/// As lines for people, at most `most` of them; 0: all. Empty where there is no group.
std::string printGroups(const std::vector<DifferenceGroup>& groups, std::size_t most = 0);

}  // namespace fusescope
