#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "frontends/tensorrt/layer_list.h"

namespace fusescope {

/// An input or output of an engine.
struct EngineTensor {
  std::string name;
  std::optional<bool> isInput{};  ///< null if it is not given, as before version 11
  std::string type{};             ///< as it is printed; empty if it is not given
  std::vector<std::int64_t> dims{};
};

/// The output of the inspector of a TensorRT engine, of any version.
struct EngineLayers {
  std::vector<ListedLayer> layers;  ///< in the order in which they run
  /// Only names are given, because the engine was built with --profilingVerbosity=layer_names_only.
  bool namesOnly = false;
  std::vector<EngineTensor> tensors;
  /// The oldest version that prints this information: "8.2", "8.4", "8.6", "10", "11". It is empty if every version
  /// does.
  std::string oldestVersion;
};

/// Reads layer information: what trtexec writes with --exportLayerInfo or prints with --dumpLayerInfo, and what
/// IEngineInspector and Torch-TensorRT return, as JSON (an object with "Layers", or only a list of layers) or as text.
/// Lines of a log before and after a printed list are ignored. It is an error if the text is none of these, is damaged
/// (the error gives line and column), or contains no layers.
Result<EngineLayers> parseEngineLayers(std::string_view text);

/// Returns whether the file at `path` begins like layer information.
bool isEngineLayersFile(const std::filesystem::path& path);

}  // namespace fusescope
