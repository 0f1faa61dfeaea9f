#pragma once

#include <string>

#include "frontends/rebuilt_metadata.h"
#include "frontends/tensorrt/engine_log.h"
#include "onnxlib/onnxlib.h"

namespace fusescope {

struct LoggedNetwork {
  onnxlib::FileModel file;   ///< as an ONNX file; its metadata say that it was rebuilt: kRebuiltFromKey
  std::int64_t weights = 0;  ///< whose types and extents are told; their numbers are not
  std::int64_t unknown = 0;  ///< nodes of kLoggedDomain
};

/// The network that was built, as the parser's words in the log tell of it: nodes with their names, operators and
/// tensors, with the attributes that are told (of Conv and Gemm) or follow from extents (what a Reshape makes). Other
/// nodes whose operators have attributes are of kLoggedDomain. `name`: of the log, for people. Errors: the log tells of
/// no nodes, of nodes of bodies among them, or not of the inputs.
Result<LoggedNetwork> networkOfLog(const EngineLog& log, const std::string& name);

}  // namespace fusescope
