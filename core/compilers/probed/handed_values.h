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

/// The inputs of a network, which are called as in the plan, by their names in the file. Errors: one is missing.
Result<std::map<std::string, Tensor>> inputsInFile(const NamesInFile& names,
                                                   const std::map<std::string, Tensor>& inputs);

/// Writes the inputs of a network, which are called as in the plan, as a probe is given them. Errors: one is missing;
/// those of writing.
Status writeHandedInputs(const NamesInFile& names, const std::map<std::string, Tensor>& inputs,
                         const std::filesystem::path& path);

}  // namespace fusescope
