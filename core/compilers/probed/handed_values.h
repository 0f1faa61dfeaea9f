#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "compilers/probed/compiler_input.h"

namespace fusescope {

/// Pairs of names of inputs or outputs: in the plan, and in the file that a compiler receives.
using NamesInFile = std::vector<std::pair<std::string, std::string>>;

/// Return the pairs in the plan's order.
NamesInFile handedInputs(const CompilerInput& network);
NamesInFile handedOutputs(const CompilerInput& network);

/// Renames `inputs` from the names of the plan to those of the file. Errors: an input is missing.
Result<std::map<std::string, Tensor>> inputsInFile(const NamesInFile& names,
                                                   const std::map<std::string, Tensor>& inputs);

/// Writes `inputs`, which have the names of the plan, to the .npz file at `path` with the names of the file, as a probe
/// reads them. Errors: an input is missing; the file cannot be written.
Status writeHandedInputs(const NamesInFile& names, const std::map<std::string, Tensor>& inputs,
                         const std::filesystem::path& path);

}  // namespace fusescope
