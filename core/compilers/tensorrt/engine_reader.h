#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compilers/probed/handed_network.h"
#include "frontends/tensorrt/engine_layers.h"
#include "frontends/tensorrt/engine_log.h"
#include "frontends/tensorrt/engine_profile.h"
#include "planning/read_back_plan.h"

namespace fusescope {

/// What files tell of an engine of TensorRT that others built.
struct EngineFiles {
  EngineLayers layers;
  std::optional<EngineProfile> profile{};
  std::optional<EngineTimes> times{};
  std::optional<EngineLog> log{};
  std::vector<std::string> names{};      ///< of the files, for people
  std::vector<Decision> contradicted{};  ///< about files that were left out, since these contradict them
};

/// The network of `plan` under the names that its file has, or that the layers have which it was made of. Errors: those
/// of reading the file.
Result<HandedNetwork> namedNetwork(std::shared_ptr<const Plan> plan);

/// All nodes of `graph` are in an engine that was built: whatever the table of a target says, they are supported.
std::shared_ptr<const CompilerSupport> supportOfBuilt(const Graph& graph);

/// What `files` tell of `network`: kernels with the nodes that they hold, in the order in which they run, with their
/// times; conversions; what became of nodes that no kernel holds; and which layers could not be placed. Nothing of it
/// was run or timed by Fusescope.
ReadBack readEngine(const HandedNetwork& network, const EngineFiles& files);

/// Adds regionAdvice() to what was read of `network`, once its kernels have the names that they are told by.
void adviseOnRegions(const HandedNetwork& network, ReadBack& told);

}  // namespace fusescope
