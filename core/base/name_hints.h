#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace fusescope {

/// Returns "The nearest is a." or "The nearest are a, b." for those of `names` that resemble `wanted`, or `otherwise`
/// if there are none.
std::string nearestInWords(std::string_view wanted, const std::vector<std::string>& names, std::string_view otherwise);

/// Returns the same sentence for names that are known to resemble the wanted one.
std::string nearestInWords(const std::vector<std::string>& near, std::string_view otherwise);

/// Returns "a, b, c". If there are more than eight names, it returns the first eight and the number of the others.
std::string listed(const std::vector<std::string>& names);

}  // namespace fusescope
