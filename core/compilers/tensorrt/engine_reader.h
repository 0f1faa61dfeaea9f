#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compilers/probed/compiler_input.h"
#include "frontends/tensorrt/engine_layers.h"
#include "frontends/tensorrt/engine_log.h"
#include "frontends/tensorrt/engine_profile.h"
#include "planning/read_back/read_back_plan.h"

namespace fusescope {

class Graph;

/// The contents of the files of a TensorRT engine that was built elsewhere.
struct EngineFiles {
  EngineLayers layers;
  std::optional<EngineProfile> profile{};
  std::optional<EngineTimes> times{};
  std::optional<EngineLog> log{};
  std::vector<std::string> names{};      ///< names of the files, for people
  std::vector<Decision> contradicted{};  ///< decisions about files that were ignored because these contradict them
};

/// Returns the network of `plan` with the names of its file, or with those of the layers that it was made from. Errors:
/// those of reading the file.
Result<CompilerInput> namedNetwork(std::shared_ptr<const Plan> plan);

/// Returns the support for a built engine: all nodes of `graph` are in it, so that they are supported whatever a
/// target's table says.
std::shared_ptr<const CompilerSupport> supportOfBuilt(const Graph& graph);

/// Returns what `files` say about `network`: kernels with their nodes, in the order in which they run, with their
/// times; conversions; the fates of nodes without a kernel; and layers that could not be placed. Fusescope ran and
/// timed nothing of it.
ReadBack readEngine(const CompilerInput& network, const EngineFiles& files);

/// Adds regionAdvice() to what was read for `network`; the kernels must have their final names.
void adviseOnRegions(const CompilerInput& network, ReadBack& readBack);

}  // namespace fusescope
