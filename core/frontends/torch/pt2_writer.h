#pragma once

#include <filesystem>
#include <string>

#include "base/result.h"

namespace fusescope {

/// What is written into an exported program of PyTorch: beside its network JSON under kInputSpecsKey, kExampleInputsKey
/// and kOutputNamesKey, and the network itself (program_casts.h). What is empty is left as it is in the file.
struct Pt2Notes {
  std::string inputSpecs, exampleInputs, outputNames{}, program{};
};

/// Writes the .pt2 at `from` to `to` with `notes`: InputSpecs as `custom` metadata of the graph, which PyTorch keeps
/// when it loads the program and saves it again, and all of it as the member extra/fusescope.json. Every other member keeps
/// its bytes and its place, and of the program's JSON all but that metadata stays, or of a new one all. `to` is at every moment as it was or
/// whole. Errors: `to` leads to `from`; it is no exported program; it cannot be written.
Status writeExportedProgram(const std::filesystem::path& from, const std::filesystem::path& to, const Pt2Notes& notes);

}  // namespace fusescope
