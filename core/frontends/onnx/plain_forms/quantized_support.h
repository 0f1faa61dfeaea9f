#pragma once

#include "frontends/onnx/plain_forms/plain_support.h"

namespace fusescope::plain {

/// Adds the numbers that the integers in slot `codes` represent; their scale and zero point are in the next two slots.
std::string wide(Form& form, const std::string& what, std::size_t codes, std::vector<FileAttribute> attributes = {});

/// Finishes `form` with `y`, quantised with the scale in slot `scale` and the zero point in the next slot. If there is
/// no zero point, the result has the type of the value `like`.
Status finishNarrow(Form& form, const std::string& y, std::size_t scale, const std::string& like);

}  // namespace fusescope::plain
