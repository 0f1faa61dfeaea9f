#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace fusescope {

/// What a profiler measured of a layer of an engine.
struct ProfiledLayer {
  std::string name;
  std::optional<double> medianMs{}, averageMs{};  ///< null: it is not said, or was no number
  std::optional<double> ms() const { return medianMs ? medianMs : averageMs; }
};

struct EngineProfile {
  std::vector<ProfiledLayer> layers;   ///< in the order in which they run
  std::optional<std::int64_t> runs{};  ///< over which; null: it is not said
  /// What ProfiledLayer::ms() counts: "medians of 21071 runs", "means of 100 runs", "means".
  std::string counts() const;
};

/// Reads what trtexec writes with --exportProfile or prints with --dumpProfile (both orders of its columns), what
/// Torch-TensorRT writes for trex, and lists of times by layer. Errors: it is none of these, or is damaged.
Result<EngineProfile> parseEngineProfile(std::string_view text);

/// What trtexec measured of whole runs.
struct EngineTimes {
  std::int64_t runs = 0;
  std::optional<double> latencyMs, computeMs;  ///< medians: with transfers to and from the device, and without
};

/// Reads what trtexec writes with --exportTimes. Errors: it is no such list, or is damaged.
Result<EngineTimes> parseEngineTimes(std::string_view text);

}  // namespace fusescope
