#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "diff/file_match.h"

namespace fusescope {

/// Returns the first `most` of `names` and the number of the others: "a, b, c and 4 more".
std::string someNames(std::vector<std::string> names, std::size_t most);

/// Returns the difference between the networks of a level at and near `things` as a cause: "the networks: gate only in
/// B". `changed` is indexed by NodeId of A.
std::string networkText(const PlanLevel& level, const FileMatch& files, const std::vector<char>& changed,
                        std::span<const std::uint32_t> things);

}  // namespace fusescope
