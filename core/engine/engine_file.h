#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>

#include "engine/description/weight_blob.h"
#include "engine/engine.h"

namespace fusescope {

/// Writes an engine file with everything that is needed to run without the original model. The format is described in
/// engine/FORMAT.md. Weights are written from their place in memory without a copy of the whole; the file is written
/// completely or not at all.
Status writeEngineFile(const std::filesystem::path& path, const EngineFile& content);

/// Opens an engine file as openEngineFile(path) does. If it was built from `known`, a network that is open already, its
/// plan refers to `known`, so that it can be compared node by node with other plans of that network; otherwise the plan
/// refers to the network in the file. `known` may be null.
Result<EngineFile> openEngineFile(const std::filesystem::path& path, const std::shared_ptr<const Model>& known,
                                  WeightCheck check = WeightCheck::All);

/// Returns whether `bytes` begin with the header of an engine file.
bool isEngine(std::span<const std::byte> bytes);
/// Returns the example inputs in an engine file in memory, in the text format of frontends/example_inputs.h; empty if
/// there are none or they are damaged.
std::string engineExamplesText(std::span<const std::byte> bytes);

}  // namespace fusescope
