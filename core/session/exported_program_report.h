#pragma once

#include <filesystem>
#include <string>

#include "base/json_fwd.h"
#include "base/result.h"
#include "compilers/torch/make_network.h"
#include "ir/model.h"

namespace fusescope {

/// Returns whether the model consists of PyTorch's own operators, as an exported program does: it can be displayed and
/// planned, but not run.
bool isExportedProgram(const Model& model);
/// Returns whether the user opened an exported program; an ONNX network that torch made from it may have been opened in
/// its place.
bool isOfExportedProgram(const Model& model);

/// Returns a text for a program at `path` of which torch has made no network: what can be opened of it, and the command
/// that makes the network.
std::string needsTorchInWords(const std::filesystem::path& path);

/// Returns what `inspect` reports about the .pt2 at `path` besides its network: versions, arguments, ranges and guards,
/// examples and modules, and the network that torch made from it. docs/json.md describes the keys.
Result<Json> exportedProgramJson(const std::filesystem::path& path);

/// Returns what `import` reports about the network that torch made from the program at `path`; see docs/json.md.
Json networkOfProgramJson(const std::filesystem::path& path, const NetworkOfProgram& made);

}  // namespace fusescope
