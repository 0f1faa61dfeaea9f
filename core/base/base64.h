#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace fusescope {

/// Decodes base64 as RFC 4648 defines it, with padding and without line breaks. Returns nothing if `text` is not
/// base64.
std::optional<std::string> decodeBase64(std::string_view text);
/// Encodes `bytes` so that decodeBase64() returns them.
std::string encodeBase64(std::string_view bytes);

}  // namespace fusescope
