#pragma once

#include <set>
#include <string>
#include <vector>

#include "interchange/network_cutter.h"
#include "planning/cover.h"

namespace fusescope {

/// Which part of a network is meant. Values bound it, or nodes are named, one by one or by what holds them: not both.
struct PartWishes {
  std::vector<std::string> from, to;  ///< values of the file; empty: the inputs, the outputs of the network
  std::vector<std::string> nodes;     ///< patterns (planning/match_pattern.h)
  std::vector<std::string> segments;  ///< names of segments of the cover
  /// Fused nodes of the cover, by name, by identity, or by a node that they hold.
  std::vector<std::string> kernels;

  bool isByValues() const { return !from.empty() || !to.empty(); }
  bool isByNodes() const { return !nodes.empty() || !segments.empty() || !kernels.empty(); }
};

/// The nodes of the file that `wishes` names of `cover`, a plan of the network that `cutter` has, ours or read back.
/// Errors: a name that nothing has, the nearest are named; a node in a body.
Result<std::set<std::size_t>> chosenNodes(const NetworkCutter& cutter, const Cover& cover, const PartWishes& wishes,
                                          const StopToken& stop = {});

/// The part that `wishes` names. Errors: those of chosenNodes() and of partBetween(); nothing is named, or both values
/// and nodes are.
Result<NetworkPart> chosenPart(const NetworkCutter& cutter, const Cover& cover, const PartWishes& wishes,
                               const StopToken& stop = {});

}  // namespace fusescope
