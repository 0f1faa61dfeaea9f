#pragma once

#include <string>
#include <vector>
#include "calibration/calibration_settings.h"
#include "session/operations/option.h"

namespace fusescope {

/// How ranges are chosen, and where they are written.
struct CalibrateSettings {
  CalibrationSettings calibration;
  std::string output;
  bool all = false;

  std::vector<Option> options();
};

}  // namespace fusescope
