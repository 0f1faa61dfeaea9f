#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "ir/model.h"

namespace fusescope {

/// The range of one extent of an input.
struct ExtentRange {
  std::int64_t min = 0;
  std::optional<std::int64_t> opt;  ///< the usual extent, if one is given
  std::int64_t max = 0;
  bool operator==(const ExtentRange&) const = default;
};

/// Reads ranges such as "1..8..32,3,224,224": the first extent is from 1 to 32 and usually 8, the other three are
/// fixed. "1..32" gives no usual extent. Extents are separated by commas or `x`; an empty text or "scalar" has rank 0.
/// It is an error if a part is not a number, or if the numbers are not in ascending order.
Result<std::vector<ExtentRange>> parseExtentRanges(std::string_view text);

/// Returns the extents of an input in the form that parseExtentRanges() reads: "1..8..32,3,224,224".
std::string extentRangesText(const InputSpec& spec);

}  // namespace fusescope
