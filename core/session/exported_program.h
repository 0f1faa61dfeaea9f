#pragma once

#include <filesystem>
#include <string>

#include "base/json.h"
#include "base/result.h"
#include "compilers/torch/make_network.h"
#include "ir/model.h"

namespace fusescope {

/// Whether the model is in PyTorch's own operators, as in an exported program: it can be looked at and planned, and not
/// run.
bool isExportedProgram(const Model& model);
/// Whether it was opened by an exported program, in whose place an ONNX network may stand that torch made of it.
bool isOfExportedProgram(const Model& model);

/// What opens of the program at `path` that no torch made a network of, and the command that has it made.
std::string needsTorchInWords(const std::filesystem::path& path);

/// What `inspect` tells of the .pt2 at `path` beside its network: versions, arguments, ranges and guards, examples and
/// modules, and the network that torch made of it. docs/json.md has the keys.
Result<Json> exportedProgramJson(const std::filesystem::path& path);

/// What `import` tells of the network that torch made of the program at `path`: docs/json.md.
Json networkOfProgramJson(const std::filesystem::path& path, const NetworkOfProgram& made);

}  // namespace fusescope
