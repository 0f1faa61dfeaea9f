#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "diff/plan_levels.h"

namespace fusescope {

/// A constant that corresponding nodes of both sides read, with the same type but other elements.
struct OtherConstant {
  ValueId a, b;                 ///< values in unquantizedModel() of each side
  std::vector<NodeId> readers;  ///< nodes of A, in graph order
};

/// The differences between the two networks of a level in their files. What options of a plan insert into or remove
/// from a network in order to calculate in quantised codes is not a difference of the networks. The level must outlive
/// it.
class FileMatch {
 public:
  explicit FileMatch(const PlanLevel& level);

  /// Returns the match of the models before quantisation; the ids are also those of the quantised models.
  const NetworkMatch& match() const { return m_own ? *m_own : m_level.match; }
  bool oneNetwork() const;
  /// Returns whether `thing` (PlanLevel::nodeNumberOfA()) is a node of one file without a counterpart in the other.
  bool hasNoCounterpart(std::uint32_t thing) const;
  /// Returns the constants that differ, in the order in which nodes of A read them. Elements are compared bit by bit.
  const std::vector<OtherConstant>& otherConstants() const { return m_others; }
  /// Returns how many constants could not be compared because one side has no data for them (a model without its
  /// weights).
  std::int64_t notCompared() const { return m_notCompared; }

 private:
  void compareConstants();

  const PlanLevel& m_level;
  std::vector<OtherConstant> m_others;
  std::int64_t m_notCompared = 0;
  std::optional<NetworkMatch> m_own;  ///< set if one or both sides are quantised
};

std::vector<FileMatch> fileMatches(const std::vector<PlanLevel>& levels);

}  // namespace fusescope
