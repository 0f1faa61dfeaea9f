#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "frontends/tensorrt/layer_list.h"

namespace fusescope {

/// What TensorRT for RTX said while it compiled a network, as far as it is understood.
struct BuildLog {
  /// A part of the network that its compiler for regions took as a whole.
  struct Region {
    std::string name;                ///< "{ForeignNode[n0...n64]}"
    std::vector<std::string> nodes;  ///< as namesInMetadata()
  };
  std::vector<ListedLayer> layers;
  std::vector<Region> regions;
  std::vector<std::string> warnings;                                       ///< each once
  std::optional<std::int64_t> activationBytes, weightBytes, scratchBytes;  ///< null: it did not say
};

/// Reads the log that the probe wrote: a line for each message, [severity, text] in JSON. Errors: a line is no such
/// thing, or its list of layers cannot be read; one without a list is none.
Result<BuildLog> readBuildLog(std::string_view log);

}  // namespace fusescope
