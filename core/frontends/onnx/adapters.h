#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "frontends/onnx/adapters/adapt_context.h"
#include "onnxlib/onnxlib.h"

namespace fusescope {

/// The oldest opset of ai.onnx whose operators the importer converts to their newest form. Of an older file, operators
/// can be read that have not changed up to this opset.
inline constexpr std::int64_t kOldestOpset = 7;

/// Returns whether a node of this operator, written at `opset` of ai.onnx, is not in its newest form.
bool needsAdapting(const onnxlib::FileNode& node, std::int64_t opset);

/// Returns `node`, written at `opset` of ai.onnx, in the form of the newest opset. Usually this is one node; if there
/// are several, one of them keeps the name. Errors are located at the node.
Result<std::vector<onnxlib::FileNode>> adaptNode(onnxlib::FileNode node, std::int64_t opset, AdaptContext& context);

/// Do the same up to opset `to`, for files that are written again: whether the meaning of the operator changed in
/// between, and the node with the same meaning at opset `to`.
bool needsRaising(const onnxlib::FileNode& node, std::int64_t from, std::int64_t to);
Result<std::vector<onnxlib::FileNode>> raiseNode(onnxlib::FileNode node, std::int64_t from, std::int64_t to,
                                                 AdaptContext& context);

}  // namespace fusescope
