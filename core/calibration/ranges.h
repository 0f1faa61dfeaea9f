#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/hash.h"
#include "base/json_fwd.h"
#include "base/result.h"
#include "calibration/calibration_settings.h"
#include "calibration/histogram.h"
#include "ir/place.h"

namespace fusescope {

/// The range of an edge of the network.
struct EdgeRange {
  ValueRange range;
  std::optional<Histogram> histogram{};  ///< of the numbers that were seen there; nothing if a file does not contain it
  bool operator==(const EdgeRange&) const = default;
};

/// The largest absolute value that the codes of a weight represent, for each channel or for all.
struct WeightRange {
  std::int64_t axis = -1;      ///< axis of the channels; -1: one range
  std::vector<float> largest;  ///< one element, or one per channel
  bool operator==(const WeightRange&) const = default;
};

/// Statistics of the channels of an edge whose readers multiply it by weights, by channel.
struct ChannelStatistics {
  std::vector<float> mean, largest;  ///< `largest` is of absolute values
  bool operator==(const ChannelStatistics&) const = default;
};

/// Everything that quantisation needs to know about a network: format "fusescope.ranges", which calibration/FORMAT.md
/// describes. It does not change after a plan uses it.
struct Ranges {
  std::string from = "calibrate";  ///< or "tensorrt", if it is TensorRT's calibration cache, which contains only edges
  CalibrationSettings settings{.choice = {}, .weightMethod = RangeMethod::MinMax, .correctBiases = false};
  std::int64_t samples = 0;  ///< number of samples that were run; 0: unknown
  bool randomInputs = false;
  std::map<std::string, EdgeRange, std::less<>> edges;             ///< by name of the value
  std::map<std::string, WeightRange, std::less<>> weights;         ///< by name of the value
  std::map<std::string, ChannelStatistics, std::less<>> channels;  ///< by name of the value

  /// Returns the ranges for what is in a body, under the names in that body. What is excluded has to be handled by the
  /// caller. Older files use "HOLDER/NAME" for a name in any body of a node.
  Ranges inBody(const BodyPathStep& body) const;
  Hash128 contentHash() const;  ///< hash of everything on which quantisation depends; histograms are not included
  bool operator==(const Ranges&) const = default;
};

enum class Histograms { Written, LeftOut };
Json toJson(const Ranges& ranges, Histograms histograms);
Result<Ranges> rangesFromJson(const Json& json);

/// Returns the text of a file: JSON with one edge per line.
std::string rangesText(const Ranges& ranges);
/// Reads such a file or TensorRT's calibration cache; it detects which of them `path` is. Errors name file and field or
/// line.
Result<Ranges> readRanges(const std::filesystem::path& path);
/// Returns whether the file begins like one of these.
bool isRangesFile(const std::filesystem::path& path);
/// Reads TensorRT's calibration cache: "TRT-8204-EntropyCalibration2", then lines of "NAME: SCALE". The scale is a
/// float as eight hexadecimal digits; the range is ±127 times the scale.
Result<Ranges> rangesFromTensorRtCache(std::string_view text);
/// Writes TensorRT's calibration cache. An edge's scale is its larger end divided by 127, so that a cache that was read
/// is written with the same scales, ordered by name. `version` is TensorRT's own number, such as 8601. It is an error
/// if a name cannot be written in a line.
Result<std::string> tensorRtCacheText(const Ranges& ranges, int version);

}  // namespace fusescope
