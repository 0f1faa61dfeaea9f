#pragma once

#include <string>
#include <string_view>

namespace fusescope {

/// The probe as it is sent to an environment: a zip archive of resources/probe, made when this library was built.
std::string_view probeArchive();

/// What tells one probe from another: the SHA-256 of the archive in hexadecimal digits.
const std::string& probeVersion();

}  // namespace fusescope
