#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fusescope {

/// One of the fields in which regions are compared, as text: "attributes" with the items "epsilon=1e-05", "axis=-1".
struct RegionField {
  std::string_view name;
  std::vector<std::string> items;
  bool operator==(const RegionField&) const = default;
};

/// Returns the fields of a region by its key (regionKey()): operators, attributes, wiring, types, extents, constants,
/// written values and contract, always in this order. Regions with equal fields are equal, except for weights and for
/// long constants whose hashes collide. Returns nothing if `region` is no key of a region.
std::optional<std::vector<RegionField>> regionFields(std::string_view region);

/// The fields of the key of a measured time of a region, as timingKey() and regionTimeKey() write them.
struct TimeKeyFields {
  std::string fingerprint, backend;
  int threads = 0;
  std::string region;
  std::string tactic;                          ///< empty for the time of a region
  std::string formats;                         ///< the memory formats of a tactic's inputs and outputs
  std::optional<std::int64_t> workspaceBytes;  ///< only for the time of a region
};

/// Returns nothing for any other key, and for keys of earlier versions.
std::optional<TimeKeyFields> timeKeyFields(std::string_view key);

/// Returns the group in which a team shares the time of this key (SharedTimes): the times of one region, or all of
/// conversions, on one kind of machine, with one backend and number of threads. Empty: the time is not shared.
std::string timesGroup(std::string_view key);

}  // namespace fusescope
