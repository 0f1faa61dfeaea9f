#pragma once

#include <string>
#include <vector>

#include "base/json_fwd.h"
#include "engine/engine.h"
#include "ir/model.h"

namespace fusescope {

/// Something that cannot run here, and why: an operator without a kernel, missing weights.
struct CannotRun {
  std::string node;  ///< empty: the whole model
  std::string op;    ///< its operator, preceded by its domain unless that is ONNX's own: "vendor::Odd"
  std::string code;
  std::string message;
};

std::vector<CannotRun> cannotRun(const Model& model);

Json inspectJson(const Model& model);

/// Returns the JSON of `inspect` for an engine: header, layers, tactics, in addition to inspectJson() of its model.
Json inspectJson(const EngineFile& info, const std::string& path);

}  // namespace fusescope
