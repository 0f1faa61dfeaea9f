#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "frontends/tensorrt/layer_list.h"

namespace fusescope {

/// What TensorRT for RTX printed while it compiled a network, as far as we can parse it.
struct BuildLog {
  /// A part of the network that its compiler for regions compiled as a whole.
  struct Region {
    std::string name;                ///< "{ForeignNode[n0...n64]}"
    std::vector<std::string> nodes;  ///< see namesInMetadata()
  };
  std::vector<ListedLayer> layers;
  std::vector<Region> regions;
  std::vector<std::string> warnings;                                       ///< without duplicates
  std::optional<std::int64_t> activationBytes, weightBytes, scratchBytes;  ///< null: not reported
};

/// Reads the log that the probe wrote: one line of JSON, [severity, text], for each message. Errors: a line has another
/// form, its list of layers cannot be read, or there is no list of layers.
Result<BuildLog> readBuildLog(std::string_view log);

}  // namespace fusescope
