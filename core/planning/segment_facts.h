#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/json_fwd.h"
#include "planning/cover.h"

namespace fusescope {

/// Nodes of a segment that are in it for one reason.
struct SegmentReason {
  std::string code;  ///< of the verdict about the nodes, if they are in fallback because of one; else of the partition
  std::string message;     ///< the sentence about the first of them
  std::int64_t nodes = 0;  ///< the number of these nodes
};

/// What one run of a segment takes: the sum over its kernels, without the conversions at its borders.
struct SegmentTime {
  std::optional<double> ms;  ///< null if the segment has no kernel with a known time
  std::int64_t unknown = 0;  ///< the number of kernels without a known time, which `ms` lacks
  bool isMeasured = false;   ///< `ms` is of kernels that were timed; otherwise it is predicted from prices
};

/// What is known about a segment besides its nodes. The reasons quote decisions for people; nothing is decided by them.
struct SegmentFacts {
  std::vector<SegmentReason> reasons;  ///< of fallback segments and others; causes first, then those with most nodes
  SegmentTime time;
};

/// Returns the facts about each segment, by segment. A pure function; its time is linear in the size of the cover.
std::vector<SegmentFacts> segmentFacts(const Cover& cover);

/// Returns the sentence that explains the segment: that of the first reason, and how many nodes have others. Empty if
/// the segment has no reason.
std::string reasonText(const SegmentFacts& facts);

/// Returns {reasons[{code, nodes, message}], ms, unknown_times, timed}, which are keys of `segments[]` in a cover's
/// JSON.
Json toJson(const SegmentFacts& facts);

}  // namespace fusescope
