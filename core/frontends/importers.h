#pragma once

#include <filesystem>

#include "base/stop.h"
#include "ir/model.h"

namespace fusescope {

/// Bounds on what a file may ask for; beyond them it is refused with a located message.
struct ImportLimits {
  std::int64_t nodes = 1'000'000;
  std::int64_t tensorBytes = std::int64_t{64} << 30;
  int subgraphDepth = 32;
};

/// How the nodes of a file are read.
enum class NodesAs {
  Canonical,  ///< what planning knows: function bodies inlined, older and optimisers' operators written anew
  InFile      ///< each as its author wrote it: to be looked at, not to be planned
};

/// Reads a model file of a known format into the IR: nodes as asked for, Constant nodes as constants, weights mapped.
/// Not yet normalised. However nodes are read, an OriginId is the same node of the file. Layer information of a
/// TensorRT engine is a network of its layers. An exported program of PyTorch (.pt2) is the ONNX network that torch
/// made of it, where one is kept, else one of PyTorch's operators. Errors: empty, truncated, not ONNX, missing or
/// escaping external data, cyclic, wrong types.
Result<Model> importModel(const std::filesystem::path& path, const ImportLimits& limits = {},
                          const StopToken& stop = {}, NodesAs nodes = NodesAs::Canonical);

}  // namespace fusescope
