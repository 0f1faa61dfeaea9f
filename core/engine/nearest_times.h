#pragma once

#include <compare>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash.h"
#include "engine/kernels/region_key.h"
#include "engine/kernels/region_key_fields.h"

namespace fusescope {

/// A field in which a kept time differs from what a build asks for: "attributes", "threads", "machine and libraries".
struct TimeDifference {
  std::string field;
  std::string here, nearest;
  bool operator==(const TimeDifference&) const = default;
};

/// A region whose times are looked for.
struct WantedTimes {
  std::string region;  ///< its key
  TimingContext context;
  std::vector<std::string> tactics;  ///< the names of those that a build compares
};

/// Finds out how the nearest kept time of a region differs from the one that a build looks for. The nearest one has the
/// fewest fields that differ, then the fewest differences in them. A region that shares less than half of its operators
/// is not near.
class NearestTimes {
 public:
  /// Adds the key of a kept time. Keys of other times than those of regions are left out.
  void add(std::string_view key);
  /// Returns the fields in which the nearest time differs, in the order of RegionField and then the conditions of the
  /// measurement. Returns nothing if no time is near.
  std::vector<TimeDifference> differencesFrom(const WantedTimes& wanted) const;

 private:
  /// What was measured: one or several tactics of a region, in the same conditions.
  struct Kept {
    TimeKeyFields key;  ///< of the first of them
    std::size_t region;
  };
  struct Region {
    std::vector<RegionField> fields;
    std::vector<Hash128> hashes;  ///< of each field
  };
  static Region regionOf(std::vector<RegionField> fields);

  std::vector<Region> m_regions;
  std::map<std::string, std::size_t, std::less<>> m_places;  ///< of a region in m_regions, by its key
  std::map<std::string, Kept> m_kept;
};

}  // namespace fusescope
