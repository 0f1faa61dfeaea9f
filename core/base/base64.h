#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace fusescope {

/// The bytes that `text` stands for (RFC 4648, padded, without line breaks); nothing if it is not base64.
std::optional<std::string> decodeBase64(std::string_view text);
/// The inverse.
std::string encodeBase64(std::string_view bytes);

}  // namespace fusescope
