#pragma once

#include <optional>
#include <string_view>

#include "compilers/tensorrt/engine_reader.h"

namespace fusescope {

/// Whether the log of `files` is of another build than its layers are, or of another network than `model`: the decision
/// that says so of `file`. A build lists its layers as the layer information does, but for regions, which the latter
/// takes apart; the nodes that the parser met are those of the network. Nothing: no two things that are told contradict
/// each other.
std::optional<Decision> logOfAnother(const EngineFiles& files, const Model& model, std::string_view file);

}  // namespace fusescope
