#pragma once

#include <string>
#include <vector>
#include "session/operations/option.h"

namespace fusescope {

/// The files that describe an engine.
struct ImportEngineSettings {
  std::string model;  ///< empty: the layers of TensorRT are drawn
  std::string layers, profile, times, log;
  std::string rebuilt;  ///< the network to write without weights; empty: none
  std::string output;

  std::vector<Option> options();
};

}  // namespace fusescope
