#pragma once

#include <memory>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "calibration/ranges.h"
#include "planning/plan.h"

namespace fusescope {

/// Ranges that a plan can be made with; equal by content. Null: there are none.
struct Calibrated {
  std::shared_ptr<const Ranges> ranges;
  bool operator==(const Calibrated& other) const;
};

/// The ranges of a session file: each stands there once, and options refer to it by its place. Histograms are kept
/// with kMostBins at the most.
class SessionRanges {
 public:
  static constexpr std::int64_t kMostBins = 256;

  /// The place of `ranges`, which are added unless equal ones are there; null for none.
  Json add(const std::shared_ptr<const Ranges>& ranges);
  Json toJson() const;

  /// Errors name the field.
  static Result<SessionRanges> fromJson(const Json& json);
  /// What stands at a place; null where `place` is.
  Result<std::shared_ptr<const Ranges>> at(const Json& place) const;

 private:
  std::vector<std::shared_ptr<const Ranges>> m_all;
};

}  // namespace fusescope
