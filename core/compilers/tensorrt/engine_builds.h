#pragma once

#include <string>
#include <vector>

#include "base/data_type.h"

namespace fusescope {

/// A build of an engine, and of its plan.
struct EngineBuild {
  DataType type = DataType::Undefined;
  std::vector<std::string> nodes{};     ///< that are pinned to the type; empty: all of the network is in it
  std::vector<std::string> commands{};  ///< to run one after the other; the last writes the plan of the engine
  std::string note{};                   ///< what stands in their way, or is to be filled in; empty: nothing
};

/// What is built: the ONNX file, the target of its plans, and the float besides f32 where only some nodes are in f32.
struct BuiltNetwork {
  std::string path, target;
  DataType lowest = DataType::F16;
};

/// The commands that build an engine in `type`, or with `nodes` pinned to it, profile it and import it, for the version
/// of TensorRT that the target is of: options for layers up to TensorRT 10, types written into the network from 11 on.
EngineBuild engineBuild(const BuiltNetwork& network, DataType type, std::vector<std::string> nodes);

}  // namespace fusescope
