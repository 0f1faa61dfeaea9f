#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "calibration/ranges.h"
#include "interchange/exports.h"

namespace fusescope {

/// How ranges are chosen: as CalibrateOptions say it, and what a Ranges remembers of it.
struct CalibrateWishes {
  RangeChoice choice{.method = RangeMethod::Mse};  ///< of edges
  RangeMethod weightMethod = RangeMethod::Mse;
  bool perChannel = true;
  bool correctBiases = true;
  double smoothing = 0;
  std::vector<std::string> exclude;  ///< patterns of nodes that stay floats
  bool operator==(const CalibrateWishes&) const = default;
};
/// What `ranges` were made with.
CalibrateWishes wishesOf(const Ranges& ranges);
/// {method, percentile, symmetric, weights_method, per_channel, correct_biases, smoothing, exclude[]}, as in a file of
/// ranges.
Json toJson(const CalibrateWishes& wishes);
/// The inverse; errors name the field.
Result<CalibrateWishes> calibrateWishesFromJson(const Json& json);

/// A file that a plan is written to: as ExportOptions say it.
struct ExportWishes {
  std::string format = "onnx";  ///< of exporters()
  std::string path;
  WeightTypes weights = WeightTypes::Convert;
  BorderTypes borders = BorderTypes::Keep;
  bool check = false;  ///< on the inputs of the request, of an exporter that takes them
  bool operator==(const ExportWishes&) const = default;
};
/// {to, path, weights: convert|keep, io: keep|plan, check}
Json toJson(const ExportWishes& wishes);
Result<ExportWishes> exportWishesFromJson(const Json& json);

/// What was written: `export --json`.
Json exportJson(const ExportWishes& wishes, const std::vector<ExportNote>& notes);

}  // namespace fusescope
