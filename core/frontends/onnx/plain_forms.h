#pragma once

#include <vector>

#include "frontends/onnx/adapters/adapt_context.h"

namespace fusescope {

/// Returns whether the node's operator is one that the optimisers of ONNX Runtime or Hugging Face write in place of
/// others.
bool hasPlainForm(const onnxlib::FileNode& node);

/// Returns what `node` calculates in operators of the newest ai.onnx: usually several nodes, one of which keeps the
/// name. Errors are located at the node: an input is missing, an output exists only in training, or the file does not
/// give a rank or a constant that the form needs.
Result<std::vector<onnxlib::FileNode>> plainForm(const onnxlib::FileNode& node, AdaptContext& context);

}  // namespace fusescope
