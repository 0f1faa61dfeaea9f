#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "ir/model.h"

namespace fusescope {

/// The key under which the metadata of an .onnx file hold InputSpecs.
inline constexpr const char* kInputSpecsKey = "fusescope.input_specs";

/// The specs as that text: {"x": {"min": [1, 3], "opt": [4, 3], "max": [8, 3]}}.
std::string inputSpecsText(const std::vector<InputSpec>& specs);
/// The inverse; types are unknown. Errors name the input: extents that are no numbers, of different counts, or not
/// min <= opt <= max.
Result<std::vector<InputSpec>> inputSpecsFromText(std::string_view text);

}  // namespace fusescope
