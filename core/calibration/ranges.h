#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/hash.h"
#include "base/json.h"
#include "base/result.h"
#include "calibration/calibration_settings.h"
#include "calibration/histogram.h"
#include "ir/place.h"

namespace fusescope {

/// An edge of the network.
struct EdgeRange {
  ValueRange range;
  std::optional<Histogram> histogram{};  ///< of what was seen there; nothing where a file does not say
  bool operator==(const EdgeRange&) const = default;
};

/// The largest absolute value that the codes of a weight stand for: of each channel, or of all.
struct WeightRange {
  std::int64_t axis = -1;      ///< of the channels; -1: one range
  std::vector<float> largest;  ///< one, or one a channel
  bool operator==(const WeightRange&) const = default;
};

/// What was seen of the channels of an edge whose readers multiply by weights: by channel.
struct ChannelStatistics {
  std::vector<float> mean, largest;  ///< the latter of absolute values
  bool operator==(const ChannelStatistics&) const = default;
};

/// What quantization needs to know of a network: format "fusescope.ranges", described in calibration/FORMAT.md.
/// Immutable once a plan has it.
struct Ranges {
  std::string from = "calibrate";  ///< or "tensorrt": of TensorRT's calibration cache, which knows edges alone
  CalibrationSettings settings{.choice = {}, .weightMethod = RangeMethod::MinMax, .correctBiases = false};
  std::int64_t samples = 0;  ///< that were run; 0: unknown
  bool randomInputs = false;
  std::map<std::string, EdgeRange, std::less<>> edges;             ///< by value
  std::map<std::string, WeightRange, std::less<>> weights;         ///< by value
  std::map<std::string, ChannelStatistics, std::less<>> channels;  ///< by value

  /// Those of what is in a body, under the names that it has there; what is excluded is the caller's. Older files name
  /// what is in any body of a node "HOLDER/NAME".
  Ranges inBody(const HeldBody& body) const;
  Hash128 contentHash() const;  ///< of all that quantization depends on: not of histograms
  bool operator==(const Ranges&) const = default;
};

enum class Histograms { Written, LeftOut };
Json toJson(const Ranges& ranges, Histograms histograms);
Result<Ranges> rangesFromJson(const Json& json);

/// The text of a file: JSON, an edge a line.
std::string rangesText(const Ranges& ranges);
/// Reads such a file, or TensorRT's calibration cache, whichever `path` is. Errors name file and field or line.
Result<Ranges> readRanges(const std::filesystem::path& path);
/// Whether it begins as one of these does.
bool isRangesFile(const std::filesystem::path& path);
/// "TRT-8204-EntropyCalibration2", then lines of "NAME: SCALE", a float as eight hexadecimal digits: ±127 steps of it.
Result<Ranges> rangesFromTensorRtCache(std::string_view text);
/// The same the other way: an edge's scale is its larger end / 127, so that what was read is written as it was, in the
/// order of names. `version` is TensorRT's own number, 8601. Errors: a name cannot stand in a line.
Result<std::string> tensorRtCacheText(const Ranges& ranges, int version);

}  // namespace fusescope
