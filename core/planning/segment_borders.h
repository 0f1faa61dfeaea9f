#pragma once

#include <optional>
#include <vector>

#include "planning/plan.h"

namespace fusescope {

/// A tensor that enters or leaves a segment, to or from one other segment, and what is converted on the way.
struct SegmentBorder {
  enum class Direction { In, Out };
  ValueId value;
  Direction direction = Direction::In;
  SegmentId other;                          ///< invalid: an input or output of the network
  DataType type = DataType::Undefined;      ///< that it is stored at
  std::optional<std::int64_t> bytes;        ///< of the tensor as it is stored; null where an extent is not known
  std::optional<CostRange> range;           ///< of `bytes`; null where the inputs' extents are fixed
  const PlannedCast* conversion = nullptr;  ///< of the plan; null: it is read as it is stored
};
std::string_view name(SegmentBorder::Direction direction);  ///< "in", "out"

/// The borders of each segment, by segment: what comes in, in the order in which it is read, then what goes out. A
/// tensor that one segment reads in several types has one entry for each. Pure; linear in the plan but for look-ups.
std::vector<std::vector<SegmentBorder>> segmentBorders(const Plan& plan);
/// As it stands in `segments[].borders` of the plan's JSON.
Json toJson(const Plan& plan, const SegmentBorder& border);

}  // namespace fusescope
