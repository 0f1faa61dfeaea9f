#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace fusescope {

/// Until when a shared place that failed is not asked, and why.
struct SharedRest {
  std::int64_t until = 0;        ///< seconds since 1970, UTC, by the clock of this machine
  std::chrono::seconds next{0};  ///< how long it was not to be asked when it failed last
  std::string why;
};

/// Returns the rest that a process of this machine wrote into `file` about the same place. Returns nothing if there is
/// none, if it is over, or if it would last longer than `longest`, because the clock was set back.
std::optional<SharedRest> restOf(const std::filesystem::path& file, const std::string& place,
                                 std::chrono::seconds longest);
/// Writes a rest for the other processes of this machine. A file that cannot be written makes them find out themselves.
void keepRest(const std::filesystem::path& file, const std::string& place, const SharedRest& rest);
/// Removes it, because the place answers again.
void endRest(const std::filesystem::path& file);

}  // namespace fusescope
