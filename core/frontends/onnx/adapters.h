#pragma once

#include <string>
#include <vector>

#include "onnxlib/onnxlib.h"

namespace fusescope {

/// What an adapter can query about the graph around its node, and add to the graph.
class AdaptContext {
 public:
  virtual ~AdaptContext() = default;
  virtual const onnxlib::FileType* type(const std::string& value) const = 0;        ///< null if unknown
  virtual const onnxlib::FileTensor* constant(const std::string& value) const = 0;  ///< null if it is not a constant
  virtual std::string freshValue(const std::string& wanted) = 0;  ///< a value name that is not used yet
  /// Adds a one-dimensional int64 constant and returns its name.
  virtual std::string addConstant(const std::string& wanted, std::vector<std::int64_t> values) = 0;
  /// Adds a constant of any type and returns its name.
  virtual std::string addTensor(const std::string& wanted, onnxlib::FileTensor tensor) = 0;
};

/// Whether a node of this operator, written at `opset` of ai.onnx, is not in its newest form.
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
