#pragma once

#include <set>
#include <string>
#include <vector>

#include "interchange/network_cutter.h"
#include "planning/cover.h"

namespace fusescope {

/// The selection of a part of a network: either by values at its borders, or by nodes, which are named directly or by
/// what contains them.
struct PartSelection {
  std::vector<std::string> from, to;  ///< values of the file; empty: the inputs or the outputs of the network
  std::vector<std::string> nodes;     ///< patterns (planning/patterns/match_pattern.h)
  std::vector<std::string> segments;  ///< names of segments of the cover
  /// Fused nodes of the cover, by name, by identity, or by a node in them.
  std::vector<std::string> kernels;

  bool isByValues() const { return !from.empty() || !to.empty(); }
  bool isByNodes() const { return !nodes.empty() || !segments.empty() || !kernels.empty(); }
};

/// Returns the nodes of the file that `selection` selects. `cover` is a plan or read-back plan of the network in
/// `cutter`. Errors: a name that nothing has (the nearest are suggested); a node in a body.
Result<std::set<std::size_t>> chosenNodes(const NetworkCutter& cutter, const Cover& cover,
                                          const PartSelection& selection, const StopToken& stop = {});

/// Returns the part that `selection` selects. Errors: those of chosenNodes() and of partBetween(); nothing is selected,
/// or both values and nodes are.
Result<NetworkPart> chosenPart(const NetworkCutter& cutter, const Cover& cover, const PartSelection& selection,
                               const StopToken& stop = {});

}  // namespace fusescope
