#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "diff/plan_levels.h"

namespace fusescope {

/// `model`, or what a plan quantised it from.
const Model& beforeCodes(const Model& model);

/// A constant that counterparts read on both sides, of one type on both, with other elements.
struct OtherConstant {
  ValueId a, b;                 ///< in beforeCodes() of each side
  std::vector<NodeId> readers;  ///< nodes of A, in graph order
};

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
  /// In the order in which nodes of A read them. Elements are compared bit by bit.
  const std::vector<OtherConstant>& otherConstants() const { return m_others; }
  /// How many constants could not be compared, because one side has no data for them (a model without its weights).
  std::int64_t notCompared() const { return m_notCompared; }

 private:
  void compareConstants();

  const PlanLevel& m_level;
  std::vector<OtherConstant> m_others;
  std::int64_t m_notCompared = 0;
  std::optional<NetworkMatch> m_own;  ///< where one side is quantised, or both are
};

std::vector<FileMatch> fileMatches(const std::vector<PlanLevel>& levels);

}  // namespace fusescope
