#pragma once

#include <string>
#include <vector>

#include "onnxlib/onnxlib.h"

namespace fusescope {

/// What an adapter may ask about the graph around its node, and add to it.
class AdaptContext {
 public:
  virtual ~AdaptContext() = default;
  virtual const onnxlib::FileType* type(const std::string& value) const = 0;        ///< null: unknown
  virtual const onnxlib::FileTensor* constant(const std::string& value) const = 0;  ///< null: not a constant
  virtual std::string freshValue(const std::string& wanted) = 0;                    ///< a value name nobody has
  /// Adds a one-dimensional int64 constant and returns its name.
  virtual std::string addConstant(const std::string& wanted, std::vector<std::int64_t> values) = 0;
  /// Adds a constant of any type and returns its name.
  virtual std::string addTensor(const std::string& wanted, onnxlib::FileTensor tensor) = 0;
};

/// Whether a node of this operator, written at `opset` of ai.onnx, is not yet in canonical form.
bool needsAdapting(const onnxlib::FileNode& node, std::int64_t opset);

/// `node`, written at `opset` of ai.onnx, in the semantics of the newest one. Usually one node; of several, one keeps
/// the name. Errors are located at the node.
Result<std::vector<onnxlib::FileNode>> adaptNode(onnxlib::FileNode node, std::int64_t opset, AdaptContext& context);

/// The same as far as opset `to`, for what stays a file: true where the meaning of the operator changed between.
bool needsRaising(const onnxlib::FileNode& node, std::int64_t from, std::int64_t to);
Result<std::vector<onnxlib::FileNode>> raiseNode(onnxlib::FileNode node, std::int64_t from, std::int64_t to,
                                                 AdaptContext& context);

}  // namespace fusescope
