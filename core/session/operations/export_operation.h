#pragma once

#include <optional>
#include <string>
#include <vector>
#include "interchange/exports.h"
#include "session/operations/option.h"

namespace fusescope {

/// The file that a plan is exported to.
struct ExportSettings {
  std::string format;  ///< of exporters()
  std::string output;  ///< empty: standard output
  std::string trtVersion, layerNames;
  WeightTypes weights = WeightTypes::Convert;
  BorderTypes borders = BorderTypes::Keep;
  std::optional<double> rms;  ///< nothing: that of the session, else the usual one
  bool check = false;         ///< the numbers are checked, also on random inputs

  std::vector<Option> options();
};

}  // namespace fusescope
