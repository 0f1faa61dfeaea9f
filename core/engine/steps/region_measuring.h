#pragma once

#include "engine/steps/planned_tactic.h"

namespace fusescope {

/// Measures the regions of a network and prices their ways. Equal regions are measured once.
class RegionMeasuring {
 public:
  /// All references must outlive this. `planned` contains every fused node that runs with a kernel.
  RegionMeasuring(const TacticPlanRequest& request, std::map<FusedNodeId, PlannedTactic>& planned,
                  TacticChooser& chooser)
      : m_request(request), m_planned(planned), m_chooser(chooser) {}

  /// Measures the regions whose tactics have no times, those with the largest predicted gain first, until the effort is
  /// spent, the rest is not worth it, or the machine is busy. What other work disturbed is tried once more at the end.
  /// Afterwards the ways of all regions have costs. Errors: cancellation.
  Status measure();
  /// Measures the regions of these fused nodes, although they were left because little can be gained from their
  /// kernels, and prices their ways. Errors: cancellation.
  Status measureLeft(const std::vector<FusedNodeId>& nodes);
  /// Measures again, in turns, everything that was measured once and is not settled. Afterwards the costs of all
  /// ways follow from all measurements. Errors: cancellation.
  Status measureAgain();
  /// Returns the time of all kernels together, as far as it is known after measure().
  double networkMs() const;
  /// Returns how many fused nodes have an equal region.
  std::size_t countOf(const TacticWays& ways) const;
  /// Adds the regions to the report of the effort.
  void countRegions();

 private:
  /// The fused nodes of equal regions.
  struct Region {
    std::vector<FusedNodeId> nodes;
    bool isOpen = false;
  };
  Status measureOpen();
  std::vector<Region*> openRegions(MeasuringOrder& order);
  Status compare(const Region& region, MeasuringOrder& order);
  void leave(const Region& region, LeftUnmeasured why);
  void scaleGuesses();
  const Backend& backendOf(const PlannedTactic& planned) const;

  const TacticPlanRequest& m_request;
  std::map<FusedNodeId, PlannedTactic>& m_planned;
  TacticChooser& m_chooser;
  std::map<std::string, Region> m_regions;  ///< by key: those with something to compare
  std::vector<FusedNodeId> m_measured;      ///< in the order in which they were measured
};

}  // namespace fusescope
