#pragma once

#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "base/json.h"
#include "planning/cover.h"
#include "planning/plan_totals.h"
#include "planning/segment_borders.h"

namespace fusescope {

constexpr std::string_view kPlanFormat = "fusescope.plan";

template <class T>
Json jsonOrNull(const std::optional<T>& value) {
  if (!value) return nullptr;
  if constexpr (std::is_same_v<T, double>)
    return jsonNumber(*value);
  else
    return *value;
}

template <class T, class F>
Json jsonList(const std::vector<T>& entries, const F& write) {
  Json array = Json::array();
  for (const T& entry : entries) array.push_back(write(entry));
  return array;
}

/// The entry `totals` of a plan's JSON, or `in_bodies` in it.
Json totalsJson(const PlanTotals& totals);

/// Writes the keys that the JSON of every cover has, whoever says it, in the order of planning/FORMAT.md. `cover`
/// outlives it.
class CoverWriter {
 public:
  explicit CoverWriter(const Cover& cover);
  /// From "format" to "conditions".
  Json head() const;
  /// "segments", "fused_nodes" and "precision_map".
  void addKernels(Json& json) const;
  /// "casts" and "decisions".
  void addCasts(Json& json) const;
  /// "totals", those of bodies with them.
  void addTotals(Json& json) const;

  Json nodeName(NodeId node) const;     ///< null: there is none
  Json valueName(ValueId value) const;  ///< likewise

 private:
  Json segmentJson(const Segment& segment) const;
  Json fusedNode(const FusedNode& node) const;
  void addBodies(Json& json, const FusedNode& node) const;
  Json calculatesJson(const FusedNode& fused) const;
  Json grantJson(const PrecisionGrant& grant) const;
  Json castJson(const PlannedCast& cast) const;

  const Cover& m_cover;
  const Graph& m_graph;
  std::vector<std::vector<SegmentBorder>> m_borders;  ///< by SegmentId
};

}  // namespace fusescope
