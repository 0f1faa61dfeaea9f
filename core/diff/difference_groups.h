#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/json_fwd.h"
#include "diff/plan_diff.h"

namespace fusescope {

/// The subject of a group of differences. Groups of equal cost are listed in this order.
enum class DifferenceTopic { Network, Segments, Fusion, Types, Conversion, Stored, Fate, Time };
std::string_view name(DifferenceTopic topic);  ///< "network", "segments", …

/// One place at which a difference of a group occurs.
struct DifferenceSite {
  std::string name;                          ///< the name of the kernels, the node or the value, for people
  std::vector<std::string> nodes;            ///< the nodes concerned, with A's names where A has them
  std::vector<CoveringNode> a, b;            ///< the kernels concerned; empty for nodes or values
  std::string block;                         ///< the copy of a repeated block that contains it, "layer.3"; empty: none
  std::optional<DiffTime> ofA, ofB;          ///< the time of these kernels or conversions, if it is known completely
  std::optional<double> errorOfA, errorOfB;  ///< ErrorChange::a and b of them, if both are known and differ
};

/// Differences that belong together: they have the same kind and cause, and are in one block of the network, or in the
/// same position of all copies of a repeated block.
struct DifferenceGroup {
  DifferenceTopic topic = DifferenceTopic::Fusion;
  char sign = '~';     ///< '-': only in A, '+': only in B, '~': changed
  std::string what;    ///< "one kernel → three: Gelu apart", "f32 → f16"
  std::string detail;  ///< for a fusion, what runs separately or is included, "Gelu apart"; otherwise empty
  Causes because;
  std::string block;               ///< the block that contains all sites, as Module::title; empty: none
  std::size_t copies = 0, of = 0;  ///< the number of equal blocks in which it occurs, and of all such blocks; 0: in no
                                   ///< repeated block
  std::vector<DifferenceSite> sites;
  std::optional<DiffTime> ofA, ofB;          ///< the sums over all sites, if all are known
  std::optional<double> errorOfA, errorOfB;  ///< the errors of the site whose error is worst on either side

  std::optional<double> deltaMs() const;  ///< B minus A
};

/// Groups the differences that `diff` of `a` and `b` lists. Groups are ordered by the absolute change in time, then by
/// topic and in the order of the graph. Kernels that differ only in time, which may be a measurement effect, come last.
/// Decisions are not included, because they only explain differences. It is a pure function, may run on any thread, and
/// needs time about linear in the nodes.
std::vector<DifferenceGroup> groupDifferences(const DiffInput& a, const DiffInput& b, const PlanDiff& diff);

/// Returns the block and the number of copies in which a group occurs: "layer.0…11, the same in ×12"; empty if it is in
/// no block.
std::string placeText(const DifferenceGroup& group);
/// Returns the `groups` of `fusescope diff --json`; diff/FORMAT.md describes them.
Json toJson(const std::vector<DifferenceGroup>& groups);
/// Returns at most `most` groups as lines for people; 0: all. Empty if there is no group.
std::string printGroups(const std::vector<DifferenceGroup>& groups, std::size_t most = 0);

}  // namespace fusescope
