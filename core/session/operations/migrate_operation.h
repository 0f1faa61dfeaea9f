#pragma once

#include <optional>
#include <string>
#include <vector>
#include "interchange/exports.h"
#include "session/operations/option.h"

namespace fusescope {

/// The recipe that is written into a network.
struct MigrateSettings {
  std::string recipe, model, output, layerNames;
  ExporterValues own;  ///< options of the format onnx
  std::optional<double> rms;

  std::vector<Option> options();
};

}  // namespace fusescope
