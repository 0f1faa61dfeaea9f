#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "interchange/exports.h"

namespace fusescope {

/// Returns the inputs of a plan whose extents come from the user, the file's metadata or its exporter, so that an
/// export includes them. Extents that the file itself fixes need not be exported, and assumed extents are nobody's
/// request. Scalars are omitted.
std::vector<InputSpec> givenInputSpecs(const Plan& plan);
/// Returns notes about inputs whose extents were only assumed: an export says nothing about them.
std::vector<ExportNote> notesOnAssumedInputs(const Plan& plan);

/// Returns extents as text, "1x3x224x224", with any separator.
std::string extentsBy(const Dims& extents, std::string_view separator);

/// Returns a table of Python that recipeInputs() reads: "INPUT_EXTENTS = {", a line for each input with its extents
/// ("1..8..32,3,224,224"), "}". It is empty if there are no inputs.
std::string pythonInputs(const std::vector<InputSpec>& inputs);

}  // namespace fusescope
