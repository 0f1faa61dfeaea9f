#pragma once

#include <optional>
#include <vector>

#include "planning/cover.h"

namespace fusescope {

/// A tensor that enters or leaves a segment, to or from one other segment, and what is converted on the way.
struct SegmentBorder {
  enum class Direction { In, Out };
  ValueId value;
  Direction direction = Direction::In;
  SegmentId other;  ///< invalid: an input or output of the network
  /// The stored type of the value; Undefined if neither the plan nor the compiler gives it.
  DataType type = DataType::Undefined;
  std::optional<std::int64_t> bytes;        ///< of the tensor as it is stored; null where that is not known
  std::optional<CostRange> range;           ///< of `bytes`; null where the inputs' extents are fixed
  const PlannedCast* conversion = nullptr;  ///< of the cover; null: it is read as it is stored
};
std::string_view name(SegmentBorder::Direction direction);  ///< "in", "out"

/// The borders of each segment, by segment: what comes in, in the order in which it is read, then what goes out. A
/// tensor that one segment reads in several types has one entry for each. Pure; linear in the cover but for look-ups.
std::vector<std::vector<SegmentBorder>> segmentBorders(const Cover& cover);
/// As it stands in `segments[].borders` of the cover's JSON.
Json toJson(const Cover& cover, const SegmentBorder& border);

}  // namespace fusescope
