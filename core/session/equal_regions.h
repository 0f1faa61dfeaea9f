#pragma once

#include <cstdint>
#include <string>

namespace fusescope {

/// Returns the sentence about a build of our own compiler in which regions were equal ("25 of 40 regions were equal to
/// others, and were compiled and measured once with them"); empty if all of them differ.
inline std::string equalRegionsInWords(std::int64_t regions, std::int64_t distinct) {
  const std::int64_t equal = regions - distinct;
  if (equal <= 0) return {};
  const std::string begin = std::to_string(equal) + " of " + std::to_string(regions) + " regions ";
  return begin + (equal == 1 ? "was equal to another one, and was compiled and measured once with it"
                             : "were equal to others, and were compiled and measured once with them");
}

}  // namespace fusescope
