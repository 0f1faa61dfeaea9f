#pragma once

#include <optional>
#include <string_view>

#include "compilers/tensorrt/engine_reader.h"

namespace fusescope {

/// Returns a decision about `file` if the log of `files` is from another build than its layers, or from another network
/// than `model`. The log of a build lists the same layers as the layer information, except for regions, which the
/// latter splits; the nodes that the parser met must be those of the network. Returns nothing if no two facts
/// contradict each other.
std::optional<Decision> logMismatch(const EngineFiles& files, const Model& model, std::string_view file);

}  // namespace fusescope
