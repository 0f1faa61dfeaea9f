#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "ir/model.h"

namespace fusescope {

/// What one extent of an input may be.
struct ExtentRange {
  std::int64_t min = 0;
  std::optional<std::int64_t> opt;  ///< the usual one; nothing: it is not said
  std::int64_t max = 0;
  bool operator==(const ExtentRange&) const = default;
};

/// "1..8..32,3,224,224": from 1 to 32, usually 8, then three that are fixed; "1..32" does not say the usual one.
/// Extents are parted by commas or `x`; nothing, or "scalar", is a rank of zero. Errors: what is no number, or not in
/// order.
Result<std::vector<ExtentRange>> parseExtentRanges(std::string_view text);

/// The inverse, of the extents of an input: "1..8..32,3,224,224".
std::string extentRangesText(const InputSpec& spec);

}  // namespace fusescope
