#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "base/result.h"
#include "onnxlib/network_edits.h"
#include "onnxlib/onnxlib.h"

namespace fusescope {

/// A file as it is at another opset.
struct RaisedFile {
  onnxlib::FileModel file;      ///< its nodes at the same places, new nodes and initializers behind the others
  onnxlib::NetworkEdits edits;  ///< what makes the file so, but for the opset itself and the nodes in `rewritten`
  /// Places of nodes that are written anew, and whether the file has another node there: else it is a new one.
  std::map<onnxlib::NodePlace, bool> rewritten{};
};

/// Why a file is to be raised to another opset, for the message that it cannot be.
struct OpsetNeed {
  std::string what;       ///< who needs it, as the subject of a sentence: "the rule gelu"
  std::string otherwise;  ///< what the user can do without it, as a command: "pin 'conv' to f32"
};
/// The need of a plan that wants a type of `node` which its operator has only from that opset on.
OpsetNeed needOfTypes(const std::string& node);

/// `file` at opset `to` of ai.onnx, with the same meaning: nodes of operators that changed are written as they are
/// there (attributes that became operands, modes that were the only ones), by several nodes where one cannot stand for
/// it (a Softmax over several axes). Errors: a node that cannot be written there, which it names.
Result<RaisedFile> raisedTo(std::int64_t to, const onnxlib::FileModel& file, const OpsetNeed& need);

/// `edits` speak of the places of `raised.file`. Makes them speak of the file that was raised: what they do to a node
/// that was written anew is done to the new node, which they add, and the file's own node goes. New nodes then stand in
/// an order in which each reads what those before it make.
void settleRewritten(const RaisedFile& raised, onnxlib::NetworkEdits& edits);

}  // namespace fusescope
