#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "compilers/probed/handed_network.h"

namespace fusescope {

/// Names of inputs or outputs: in the plan, and in the file that a compiler is handed.
using NamesInFile = std::vector<std::pair<std::string, std::string>>;

/// In the plan's order.
NamesInFile handedInputs(const HandedNetwork& network);
NamesInFile handedOutputs(const HandedNetwork& network);

/// `inputs`, whose names are those of the plan, by their names in the file. Errors: an input is missing.
Result<std::map<std::string, Tensor>> inputsInFile(const NamesInFile& names,
                                                   const std::map<std::string, Tensor>& inputs);

/// Writes `inputs`, whose names are those of the plan, to the .npz file at `path` under their names in the file, which
/// is how a probe takes them. Errors: an input is missing; the file cannot be written.
Status writeHandedInputs(const NamesInFile& names, const std::map<std::string, Tensor>& inputs,
                         const std::filesystem::path& path);

}  // namespace fusescope
