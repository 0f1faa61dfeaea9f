#include "planning/segment_facts.h"

#include <algorithm>
#include <string_view>
#include <tuple>

#include "base/json.h"
#include "base/text.h"
#include "ir/decision.h"
#include "ir/graph.h"
#include "planning/read_back/read_back_plan.h"

namespace fusescope {
namespace {

/// Returns the decision that explains where a node runs: the verdict about it if that sends it to fallback, and
/// otherwise the one of the partition.
const Decision& explains(const Cover& cover, const Decision& partition) {
  if (partition.code != "partition.not_supported" && partition.code != "partition.not_asked") return partition;
  return partition.evidence.empty() ? partition : cover.decisions[partition.evidence.back()];
}

/// Returns whether the reason says only that a node is where others are: it was not asked about because something
/// refuses another node, or nothing keeps it from its segment.
bool isConsequence(std::string_view code) {
  return code == "validate.not_asked" || code == "partition.supported";
}

void countReasons(const Cover& cover, std::vector<SegmentFacts>& facts) {
  std::vector<SegmentId> segmentOf(cover.graph().nodeIdLimit());
  for (const Segment& segment : cover.segments)
    for (const NodeId node : segment.nodes) segmentOf[node.index] = segment.id;
  for (const Decision& decision : cover.decisions) {
    if (decision.kind != DecisionKind::Partition || decision.subjects.empty()) continue;
    // Of two nodes that are kept apart, the second is in the segment that begins there.
    const std::optional<NodeId> node = decision.subjects.back().nodeIn(cover.graph());
    if (!node || !segmentOf[node->index].valid()) continue;
    std::vector<SegmentReason>& reasons = facts[segmentOf[node->index].index].reasons;
    const Decision& why = explains(cover, decision);
    auto reason = std::ranges::find(reasons, why.code, &SegmentReason::code);
    if (reason == reasons.end()) reason = reasons.insert(reason, {.code = why.code, .message = message(why)});
    ++reason->nodes;
  }
  for (SegmentFacts& segment : facts)
    std::ranges::stable_sort(segment.reasons, {}, [](const SegmentReason& reason) {
      return std::tuple(isConsequence(reason.code), -reason.nodes, std::string_view(reason.code));
    });
}

void sumTimes(const Cover& cover, std::vector<SegmentFacts>& facts) {
  const ReadBackPlan* made = asReadBack(cover);
  for (const FusedNode& fused : cover.fusedNodes) {
    if (!fused.segment.valid() || (made != nullptr && made->kernels[fused.id.index].once)) continue;
    SegmentTime& time = facts[fused.segment.index].time;
    const std::optional<double> ms = made != nullptr ? made->kernels[fused.id.index].ms : fused.predictedMs;
    if (ms) {
      time.ms = time.ms.value_or(0) + *ms;
      time.isMeasured = made != nullptr;
    } else {
      ++time.unknown;
    }
  }
}

}  // namespace

std::vector<SegmentFacts> segmentFacts(const Cover& cover) {
  std::vector<SegmentFacts> facts(cover.segments.size());
  countReasons(cover, facts);
  sumTimes(cover, facts);
  return facts;
}

std::string reasonText(const SegmentFacts& facts) {
  if (facts.reasons.empty()) return {};
  std::int64_t others = 0;
  for (const SegmentReason& reason : facts.reasons) others += reason.nodes;
  others -= facts.reasons.front().nodes;
  return facts.reasons.front().message + (others == 0 ? "" : "; " + counted(others, "node") + " for other reasons");
}

Json toJson(const SegmentFacts& facts) {
  Json reasons = Json::array();
  for (const SegmentReason& reason : facts.reasons)
    reasons.push_back({{"code", reason.code}, {"nodes", reason.nodes}, {"message", reason.message}});
  return {{"reasons", std::move(reasons)},
          {"ms", facts.time.ms ? jsonNumber(*facts.time.ms) : Json(nullptr)},
          {"unknown_times", facts.time.unknown},
          {"timed", facts.time.isMeasured}};
}

}  // namespace fusescope
