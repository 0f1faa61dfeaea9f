#pragma once

#include <string>
#include <string_view>

namespace fusescope {

/// Returns the probe as it is sent to an environment: a zip archive of resources/probe, made when this library was
/// built.
std::string_view probeArchive();

/// Returns the version of the probe: the SHA-256 of the archive in hexadecimal digits.
const std::string& probeVersion();

}  // namespace fusescope
