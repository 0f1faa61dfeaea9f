#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "onnxlib/network_edits.h"
#include "onnxlib/onnxlib.h"

namespace fusescope {

/// A file as it is at another opset.
struct RaisedFile {
  onnxlib::FileModel file;      ///< its nodes at the same places, new initializers behind the others
  onnxlib::NetworkEdits edits;  ///< what makes the file so, the opset itself not among them
};

/// `file` at opset `to` of ai.onnx, with the same meaning: nodes of operators that changed are written as they are
/// there (attributes that became operands, modes that were the only ones). Errors: a node that one node cannot stand
/// for there, which it names; `neededBy` is the node whose types need the opset.
Result<RaisedFile> raisedTo(std::int64_t to, const onnxlib::FileModel& file, const std::string& neededBy);

}  // namespace fusescope
