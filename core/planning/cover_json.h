#pragma once

#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "base/ids.h"
#include "base/json.h"
#include "planning/cover.h"
#include "planning/plan_totals.h"
#include "planning/segment_borders.h"
#include "planning/segment_facts.h"

namespace fusescope {

class Graph;

constexpr std::string_view kPlanFormat = "fusescope.plan";
/// The version of the document "fusescope.plan". Version 1 did not say how a predicted time is known. Before version 3,
/// work, bytes and times had no ranges, and an edited file could not be detected. Before version 4, what prices had
/// decided was only in decisions and their codes.
constexpr int kPlanVersion = 4;

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

/// Returns the entry `totals` of a plan's JSON, or the entry `in_bodies` in it.
Json totalsJson(const PlanTotals& totals);

/// Returns "body_time" of a node with bodies.
Json toJson(const BodyTime& time);

/// Writes the JSON keys that plans and read-back plans share, in the order of planning/FORMAT.md. `cover` must outlive
/// it.
class CoverWriter {
 public:
  explicit CoverWriter(const Cover& cover);
  /// Returns the keys from "format" to "conditions".
  Json head() const;
  /// Adds "segments", "fused_nodes" and "precision_map".
  void addKernels(Json& json) const;
  /// Adds "casts" and "decisions".
  void addCasts(Json& json) const;
  /// Adds "totals", including those of bodies.
  void addTotals(Json& json) const;

  Json nodeName(NodeId node) const;     ///< null if the id is invalid
  Json valueName(ValueId value) const;  ///< null if the id is invalid

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
  std::vector<SegmentFacts> m_segmentFacts;           ///< by SegmentId
};

}  // namespace fusescope
