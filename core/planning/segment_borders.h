#pragma once

#include <optional>
#include <vector>

#include "base/ids.h"
#include "base/json_fwd.h"
#include "planning/cover.h"

namespace fusescope {

/// A tensor that is passed between a segment and one other segment, and its conversion on the way.
struct SegmentBorder {
  enum class Direction { In, Out };
  ValueId value;
  Direction direction = Direction::In;
  SegmentId other;  ///< invalid for an input or output of the network
  /// The stored type of the value; Undefined if neither the plan nor the compiler gives it.
  DataType type = DataType::Undefined;
  std::optional<std::int64_t> bytes;        ///< size of the tensor in its stored type; null if unknown
  std::optional<CostRange> range;           ///< range of `bytes`; null if the inputs' extents are fixed
  const PlannedCast* conversion = nullptr;  ///< points into the cover; null if it is read in its stored type
};
std::string_view name(SegmentBorder::Direction direction);  ///< "in", "out"

/// Returns the borders of each segment, by segment: first the tensors that enter it, in the order in which they are
/// read, then those that leave it. A tensor that one segment reads in several types has one entry for each type. A pure
/// function; apart from look-ups, its time is linear in the size of the cover.
std::vector<std::vector<SegmentBorder>> segmentBorders(const Cover& cover);
/// Returns an element of `segments[].borders` of the cover's JSON.
Json toJson(const Cover& cover, const SegmentBorder& border);

}  // namespace fusescope
