#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace fusescope {

/// The times of one layer of an engine that a profiler measured.
struct ProfiledLayer {
  std::string name;
  std::optional<double> medianMs{}, averageMs{};  ///< null if it is not given or is not a number
  std::optional<double> ms() const { return medianMs ? medianMs : averageMs; }
};

struct EngineProfile {
  std::vector<ProfiledLayer> layers;   ///< in the order in which they run
  std::optional<std::int64_t> runs{};  ///< the number of runs; null if it is not given
  /// Returns what ProfiledLayer::ms() is: "medians of 21071 runs", "means of 100 runs", "means".
  std::string counts() const;
};

/// Reads what trtexec writes with --exportProfile or prints with --dumpProfile (with both orders of columns), what
/// Torch-TensorRT writes for trex, and lists of times by layer. It is an error if the text is none of these or is
/// damaged.
Result<EngineProfile> parseEngineProfile(std::string_view text);

/// The times of whole runs that trtexec measured.
struct EngineTimes {
  std::int64_t runs = 0;
  std::optional<double> latencyMs, computeMs;  ///< medians, with and without transfers to and from the device
};

/// Reads what trtexec writes with --exportTimes. It is an error if the text is not such a list or is damaged.
Result<EngineTimes> parseEngineTimes(std::string_view text);

}  // namespace fusescope
