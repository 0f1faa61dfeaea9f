#pragma once

#include <string_view>

namespace fusescope {

/// Returns whether `target` is a version of TensorRT for servers: "tensorrt-10".
bool isServerTarget(std::string_view target);

/// Returns the target of the newest version, with strongly typed networks.
std::string_view newestServerTarget();

}  // namespace fusescope
