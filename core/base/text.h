#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace fusescope {

/// Returns whether `text` matches `pattern`, in which `*` matches any run of characters and `?` any one character.
bool matchesGlob(std::string_view pattern, std::string_view text);

/// Returns up to `most` of `names` that a mistyped `wanted` may have meant, the most similar first; none if none is
/// similar.
std::vector<std::string> nearestNames(std::string_view wanted, const std::vector<std::string>& names,
                                      std::size_t most = 3);

std::string joined(const std::vector<std::string>& parts, std::string_view separator = ", ");
std::string counted(std::int64_t count, std::string_view one);  ///< "1 cast", "2 casts"
std::vector<std::string> split(std::string_view text, char separator);

}  // namespace fusescope
