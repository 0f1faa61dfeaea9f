#pragma once

#include <string>
#include <vector>
#include "session/operations/option.h"

namespace fusescope {

/// Measured times of engines that others built, as prices.
struct PricesSettings {
  std::vector<std::string> engines;
  std::string types;   ///< TYPE[,TYPE…]; empty: f32, f16 and those of the engines
  std::string forget;  ///< the network whose prices are forgotten; empty: none
  bool keep = false, kept = false;

  std::vector<Option> options();
};

}  // namespace fusescope
