#pragma once

#include <string>
#include <string_view>

namespace fusescope {

/// The probe as it is sent to an environment: a zip archive of resources/probe, made when this library was built.
std::string_view probeArchive();

/// What runs there before the archive has come, as text: resources/probe/prelude.py.
std::string_view probePrelude();

/// What is imported for `compiler` before it is asked for, as Python writes it: ((modules), {variable: value}). Empty:
/// nothing is.
std::string_view importedAhead(std::string_view compiler);

/// What tells one probe from another: the SHA-256 of the archive in hexadecimal digits.
const std::string& probeVersion();

}  // namespace fusescope
