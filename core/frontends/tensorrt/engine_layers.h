#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "frontends/tensorrt/layer_list.h"

namespace fusescope {

/// An input or an output of an engine.
struct EngineTensor {
  std::string name;
  std::optional<bool> isInput{};  ///< null: before version 11 it is not said
  std::string type{};             ///< as it is printed; empty: it is not said
  std::vector<std::int64_t> dims{};
};

/// What the inspector of a TensorRT engine says of it, of whatever version.
struct EngineLayers {
  std::vector<ListedLayer> layers;  ///< in the order in which they run
  /// Only names are told: the engine was built with --profilingVerbosity=layer_names_only.
  bool namesOnly = false;
  std::vector<EngineTensor> tensors;
  /// "8.2", "8.4", "8.6", "10", "11": the oldest version that says what is said here; empty: any could.
  std::string oldestVersion;
};

/// Reads layer information: what trtexec writes with --exportLayerInfo or prints with --dumpLayerInfo, what
/// IEngineInspector and Torch-TensorRT give, as JSON (an object with "Layers", or a list of layers alone) or as text.
/// Lines of a log before and behind a printed list do not matter. Errors: it is none of these, is damaged (line and
/// column), or holds no layers.
Result<EngineLayers> parseEngineLayers(std::string_view text);

/// Whether the file at `path` begins as layer information, by its content.
bool isEngineLayersFile(const std::filesystem::path& path);

}  // namespace fusescope
