#pragma once

#include <string>

#include "frontends/rebuilt_metadata.h"
#include "frontends/tensorrt/engine_log.h"
#include "onnxlib/onnxlib.h"

namespace fusescope {

struct LoggedNetwork {
  onnxlib::FileModel file;   ///< as an ONNX file, whose metadata contain kRebuiltFromKey
  std::int64_t weights = 0;  ///< number of weights with known types and extents; their numbers are unknown
  std::int64_t unknown = 0;  ///< number of nodes in kLoggedDomain
};

/// Rebuilds the network from the parser's messages in the log: nodes with their names, operators and tensors, and with
/// attributes that the log contains (of Conv and Gemm) or that follow from extents (of a Reshape). Other nodes whose
/// operators have attributes are in kLoggedDomain. `name` is the name of the log, for people. It is an error if the log
/// contains no nodes, contains nodes of bodies, or does not contain the inputs.
Result<LoggedNetwork> networkOfLog(const EngineLog& log, const std::string& name);

}  // namespace fusescope
