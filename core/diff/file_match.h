#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "diff/plan_levels.h"

namespace fusescope {

/// `model`, or what a plan quantised it from.
const Model& beforeCodes(const Model& model);

/// How the two networks of a level differ as their files have them: what a plan's options put into them or took out, to
/// calculate in codes, is no difference of the networks. The level must outlive it.
class FileMatch {
 public:
  explicit FileMatch(const PlanLevel& level);

  /// By the ids of what the plans' models were quantised from, which are those of the models too.
  const NetworkMatch& match() const { return m_own ? *m_own : m_level.match; }
  bool oneNetwork() const;
  /// Whether `thing` (PlanLevel::thingOfA()) is a node of one file that the other has no counterpart of.
  bool inOneAlone(std::uint32_t thing) const;
  /// Nodes of A that differ from their counterparts in the elements of constants.
  std::vector<NodeId> otherElements() const;

 private:
  const PlanLevel& m_level;
  std::optional<NetworkMatch> m_own;  ///< where one side is quantised, or both are
};

std::vector<FileMatch> fileMatches(const std::vector<PlanLevel>& levels);

}  // namespace fusescope
