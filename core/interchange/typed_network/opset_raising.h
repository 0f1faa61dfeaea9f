#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "base/result.h"
#include "onnxlib/network_edits.h"
#include "onnxlib/onnxlib.h"

namespace fusescope {

/// A file converted to another opset.
struct RaisedFile {
  onnxlib::FileModel file;      ///< its nodes are at the same indices, new nodes and initializers after the others
  onnxlib::NetworkEdits edits;  ///< the edits that convert the file, without the opset itself and the nodes in
                                ///< `rewritten`
  /// Indices of rewritten nodes, and whether the file has another node at the index; otherwise it is a new node.
  std::map<onnxlib::NodePlace, bool> rewritten{};
};

/// Why a file must be raised to another opset, for the message that this is impossible.
struct OpsetNeed {
  std::string what;       ///< what needs it, as the subject of a sentence: "the rule gelu"
  std::string otherwise;  ///< what the user can do instead, as a command: "pin 'conv' to f32"
};
/// Returns the need of a plan that asks for a type of `node` which its operator supports only from that opset on.
OpsetNeed needOfTypes(const std::string& node);

/// Converts `file` to opset `to` of ai.onnx without changing its meaning. Nodes of operators that changed are rewritten
/// (attributes that became operands, modes that were implied), as several nodes if necessary (a Softmax over several
/// axes). Errors: a node that cannot be converted, which the error names.
Result<RaisedFile> raisedTo(std::int64_t to, const onnxlib::FileModel& file, const OpsetNeed& need);

/// Converts `edits`, which refer to `raised.file`, to edits of the original file: changes to a rewritten node are made
/// to the new node, which they add, and the original node is removed. New nodes are then in an order in which each
/// reads only results of earlier ones.
void settleRewritten(const RaisedFile& raised, onnxlib::NetworkEdits& edits);

}  // namespace fusescope
