#pragma once

#include <string>
#include <vector>

#include "analysis/set_groups.h"
#include "planning/read_back/read_back_plan.h"

namespace fusescope {

/// How the kernels of two engines without networks, or with different networks, were matched.
struct LayerMatch {
  std::vector<SetGroup> groups;  ///< groups of kernels, as indices in ReadBackPlan::fusedNodes, without conversions
  /// The number of groups with kernels of both sides that were matched by names of nodes or only by structure, and the
  /// number of kernels that only one side has.
  std::int64_t byNames = 0, byStructure = 0, onlyA = 0, onlyB = 0;
  /// Names are equal, but the kernels have other extents: the names belong to different networks, and were ignored.
  bool namesContradict = false;
};

/// What is used to match the kernels of two engines.
enum class LayerWords {
  Names,     ///< names of nodes, and structure for kernels without names
  Structure  ///< only structure, because the names come from two different files
};

/// Groups the kernels of two engines by what their layers say. Kernels that name the same nodes belong together, unless
/// they write different numbers of elements. Other kernels belong together if they have the same position among
/// producers and readers, are of the same kind, and write as much for each sample; and then, if they read and write as
/// much, in order, provided that both sides have equally many. Conversions and quantisers that are separate kernels are
/// skipped and are in no group. If a side has a network, its kernels name their nodes. It is a pure function.
LayerMatch matchLayers(const ReadBackPlan& a, const ReadBackPlan& b, LayerWords words = LayerWords::Names);

/// Returns whether at least half of the nodes of the smaller network have a counterpart in the other; see
/// matchNetworks(). A network that was quantised in its file, or whose norms were folded, may have fewer.
bool areAlike(const Model& a, const Model& b);

/// Returns whether the inputs of two engines have the same usual extents: compared by name if both have the same names,
/// otherwise in any order.
bool haveSameExtents(const ReadBackPlan& a, const ReadBackPlan& b);

}  // namespace fusescope
