#pragma once

#include <filesystem>
#include <string>

#include "base/result.h"

namespace fusescope {

/// What is written into an exported program of PyTorch: JSON under kInputSpecsKey, kExampleInputsKey and
/// kOutputNamesKey, and the network itself (program_casts.h). Parts that are empty are left as they are in the file.
struct Pt2Additions {
  std::string inputSpecs, exampleInputs, outputNames{}, program{};
};

/// Writes the .pt2 at `from` to `to` with `notes`. InputSpecs are written as `custom` metadata of the graph, which
/// PyTorch preserves when it loads the program and saves it again. All notes are written into the member
/// extra/fusescope.json. All other members keep their bytes and places, and the program's JSON (the original or a new
/// one) is unchanged except for these metadata. `to` is unchanged or complete at every moment. It is an error if `to`
/// leads to `from`, if the file is not an exported program, or if it cannot be written.
Status writeExportedProgram(const std::filesystem::path& from, const std::filesystem::path& to,
                            const Pt2Additions& notes);

}  // namespace fusescope
