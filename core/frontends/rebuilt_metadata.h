#pragma once

namespace fusescope {

/// The metadata of an ONNX file that was rebuilt from a log, in place of the network itself: the name of the log.
inline constexpr const char* kRebuiltFromKey = "fusescope.rebuilt_from";
/// The domain of operators of which a log does not say all that they need: they have their names, and cannot be
/// calculated.
inline constexpr const char* kLoggedDomain = "tensorrt.log";

}  // namespace fusescope
