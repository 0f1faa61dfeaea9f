#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "interchange/exports.h"

namespace fusescope {

/// The inputs of a plan whose extents somebody said, the user, the file's metadata or its exporter, so that an export
/// carries them: what the file itself fixes need not be said, and what was only assumed is nobody's wish. Scalars are
/// left out.
std::vector<InputSpec> saidInputs(const Plan& plan);
/// What must be known of inputs whose extents were only assumed: an export says nothing of them.
std::vector<ExportNote> notesOnAssumedInputs(const Plan& plan);

/// "1x3x224x224", with any separator.
std::string extentsBy(const Dims& extents, std::string_view separator);

/// "INPUT_EXTENTS = {", a line for each input with its extents ("1..8..32,3,224,224"), "}": a table of Python, which
/// recipeInputs() reads back. Empty where there are no inputs.
std::string pythonInputs(const std::vector<InputSpec>& inputs);

}  // namespace fusescope
