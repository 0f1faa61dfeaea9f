#pragma once

#include <string>
#include <vector>

#include "analysis/set_groups.h"
#include "planning/read_back_plan.h"

namespace fusescope {

/// How the kernels of two engines were set against each other that have no networks, or networks that are not alike.
struct LayerMatch {
  std::vector<SetGroup> groups;  ///< of kernels, as indices into ReadBackPlan::fusedNodes; no conversions
  /// So many groups have kernels of both sides, by names of nodes and by structure alone; and so many kernels one side
  /// alone has.
  std::int64_t byNames = 0, byStructure = 0, onlyA = 0, onlyB = 0;
  /// Names are shared, and what has them is of other extents: they are of other networks, and were left aside.
  bool namesContradict = false;
};

/// What two engines say of how their kernels belong together.
enum class LayerWords {
  Names,     ///< names of nodes, and structure where there are none
  Structure  ///< structure alone: names are of two files that are not alike
};

/// Groups the kernels of two engines by what their layers say: kernels that say that they are of nodes of the same
/// names belong together, unless these write other numbers of elements; of the others those that stand at the same
/// place between what reads and writes what, are of the same kind and write as much for each sample; then, of those
/// that read and write as much, as many on both sides, in their order. Conversions and quantisers that are kernels of
/// their own are seen through, and are in no group. Where a side has a network, its kernels say the names of the nodes
/// that they hold. Pure.
LayerMatch matchLayers(const ReadBackPlan& a, const ReadBackPlan& b, LayerWords words = LayerWords::Names);

/// Whether at least half of the nodes of the smaller network have a counterpart in the other: matchNetworks(). A
/// network that was quantised in its file, or whose norms were folded, may have fewer.
bool areAlike(const Model& a, const Model& b);

/// Whether the inputs of two engines have the same usual extents: by name where both have the same names, else in any
/// order.
bool haveSameExtents(const ReadBackPlan& a, const ReadBackPlan& b);

}  // namespace fusescope
