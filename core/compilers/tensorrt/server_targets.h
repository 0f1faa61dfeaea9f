#pragma once

#include <string_view>

namespace fusescope {

/// Whether `target` is the table of a version of TensorRT for servers: "tensorrt-10".
bool isServerTarget(std::string_view target);

/// That of the newest version, where the types of the network decide.
std::string_view newestServerTarget();

}  // namespace fusescope
