#pragma once

#include <string>
#include <string_view>

namespace fusescope {

/// Returns the probe as it is sent to an environment: a zip archive of resources/probe, made when this library was
/// built.
std::string_view probeArchive();

/// Returns the text that runs in an environment before the archive has arrived: resources/probe/prelude.py.
std::string_view probePrelude();

/// Returns what is imported for `compiler` before it is asked for, as Python source: ((modules), {variable: value}).
/// Empty: nothing.
std::string_view importedAhead(std::string_view compiler);

/// Returns the version of the probe: the SHA-256 of the archive in hexadecimal digits.
const std::string& probeVersion();

}  // namespace fusescope
