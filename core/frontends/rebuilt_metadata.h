#pragma once

namespace fusescope {

/// The metadata key of an ONNX file that was rebuilt from a log because the network itself is not available. The value
/// is the name of the log.
inline constexpr const char* kRebuiltFromKey = "fusescope.rebuilt_from";
/// The domain of operators about which a log does not contain everything that is needed. They have their names, but
/// cannot be calculated.
inline constexpr const char* kLoggedDomain = "tensorrt.log";

}  // namespace fusescope
