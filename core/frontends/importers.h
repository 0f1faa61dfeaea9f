#pragma once

#include <filesystem>

#include "base/stop.h"
#include "ir/model.h"

namespace fusescope {

/// Limits for the contents of a file. A file that exceeds one is refused with a located error.
struct ImportLimits {
  std::int64_t nodes = 1'000'000;
  std::int64_t tensorBytes = std::int64_t{64} << 30;
  int subgraphDepth = 32;
};

/// How the nodes of a file are read.
enum class NodeForm {
  /// As planning needs them: function bodies are inlined, and older and optimisers' operators are rewritten.
  Canonical,
  InFile  ///< as the author wrote each one: for viewing, not for planning
};

/// Reads a model file of a known format into a Model that is not normalised yet. Nodes are read as `nodes` says,
/// Constant nodes become constants, and weights are mapped. An OriginId is the same node of the file for every value of
/// `nodes`. Layer information of a TensorRT engine becomes a network of its layers. An exported program of PyTorch
/// (.pt2) becomes the ONNX network that torch made of it, if one is kept, or otherwise a network of PyTorch's
/// operators. It is an error if the file is empty, truncated or not ONNX, if external data is missing or outside the
/// folder, or if the network has a cycle or wrong types.
Result<Model> importModel(const std::filesystem::path& path, const ImportLimits& limits = {},
                          const StopToken& stop = {}, NodeForm nodes = NodeForm::Canonical);

}  // namespace fusescope
