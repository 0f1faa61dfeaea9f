#pragma once

#include "frontends/onnx/plain_forms/plain_support.h"

namespace fusescope::plain {

/// What the integers in slot `codes` stand for, whose scale and zero point are in the slots behind it.
std::string wide(Form& form, const std::string& what, std::size_t codes, std::vector<FileAttribute> attributes = {});

/// Finishes `form` with `y` quantised by the scale in slot `scale` and the zero point behind it; without one it gets
/// the type of the value `like`.
Status finishNarrow(Form& form, const std::string& y, std::size_t scale, const std::string& like);

}  // namespace fusescope::plain
