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

/// Reads a model file of a known format into the IR: canonical operators, function bodies inlined, weights mapped.
/// Not yet normalised. Errors: empty, truncated, not ONNX, missing or escaping external data, cyclic, wrong types.
Result<Model> importModel(const std::filesystem::path& path, const ImportLimits& limits = {},
                          const StopToken& stop = {});

}  // namespace fusescope
