#pragma once

#include <string>
#include <vector>
#include "session/operations/option.h"

namespace fusescope {

/// The engine and the weights of which `refit` makes another engine.
struct RefitSettings {
  std::string engineFile;  ///< the engine whose options, extents and tactics are used
  std::string weights;     ///< the network that has the new weights
  std::string output;      ///< the engine file to write; empty: beside the network, under its name
  int threads = 0;         ///< 0: as many as the machine has
  std::string cache;       ///< "off", "read" or "write"; empty: "write"

  std::vector<Option> options();
};

}  // namespace fusescope
