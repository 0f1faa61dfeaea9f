#pragma once

#include <string>
#include <vector>

#include "base/data_type.h"

namespace fusescope {

/// The commands for one build of an engine.
struct EngineBuild {
  DataType type = DataType::Undefined;
  std::vector<std::string> nodes{};     ///< the nodes that are pinned to the type; empty: the whole network has the
                                        ///< type
  std::vector<std::string> commands{};  ///< commands to run in order; the last one writes the plan of the engine
  std::string note{};                   ///< what prevents them, or what must be filled in; may be empty
};

/// What is built: the ONNX file, the target of its plans, and the narrow float of the other nodes if only some nodes
/// are in f32.
struct BuiltNetwork {
  std::string path, target;
  DataType lowest = DataType::F16;
};

/// Returns the commands that build an engine in `type`, or with `nodes` pinned to it, profile it and import it, for the
/// TensorRT version of the target: they use options for layers up to TensorRT 10, and types in the network from version
/// 11 on.
EngineBuild engineBuild(const BuiltNetwork& network, DataType type, std::vector<std::string> nodes);

}  // namespace fusescope
