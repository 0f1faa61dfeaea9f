#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace fusescope {

/// "The nearest is a." or "The nearest are a, b."; where none of `names` is near `wanted`, `otherwise`.
std::string nearestInWords(std::string_view wanted, const std::vector<std::string>& names, std::string_view otherwise);

/// The same of names that are known to be near.
std::string nearestInWords(const std::vector<std::string>& near, std::string_view otherwise);

/// "a, b, c"; of more than eight, the first eight and how many more there are.
std::string listed(const std::vector<std::string>& names);

}  // namespace fusescope
