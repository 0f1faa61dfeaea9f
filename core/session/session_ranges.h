#pragma once

#include <memory>
#include <vector>

#include "base/json_fwd.h"
#include "base/result.h"
#include "calibration/ranges.h"
#include "planning/plan.h"

namespace fusescope {

/// Ranges with which a plan can be made; they are compared by content. Null: there are none.
struct Calibrated {
  std::shared_ptr<const Ranges> ranges;
  bool operator==(const Calibrated& other) const;
};

/// The ranges of a session file: each is stored once, and options refer to it by its index. Histograms are stored with
/// at most kMostBins bins.
class SessionRanges {
 public:
  static constexpr std::int64_t kMostBins = 256;

  /// Adds `ranges`, unless equal ones are there, and returns their index; null for no ranges.
  Json add(const std::shared_ptr<const Ranges>& ranges);
  Json toJson() const;

  /// Errors name the field.
  static Result<SessionRanges> fromJson(const Json& json);
  /// Returns the ranges at an index; null if `place` is null.
  Result<std::shared_ptr<const Ranges>> at(const Json& place) const;

 private:
  std::vector<std::shared_ptr<const Ranges>> m_all;
};

}  // namespace fusescope
