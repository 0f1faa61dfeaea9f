#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "interchange/exports.h"

namespace fusescope {

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

/// What was written: `export --json`. `numbers` is null where nothing was run.
Json exportJson(const ExportWishes& wishes, const Exported& exported);

}  // namespace fusescope
