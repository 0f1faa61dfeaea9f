#pragma once

#include <vector>

#include "frontends/onnx/adapters.h"

namespace fusescope {

/// Whether the node's operator is one that ONNX Runtime's or Hugging Face's optimisers write in place of others.
bool hasPlainForm(const onnxlib::FileNode& node);

/// What `node` stands for, in operators of ai.onnx at their newest: usually several nodes, one of which keeps the name.
/// Errors are located at the node: an input that it lacks, an output that only training has, a rank or a constant that
/// its form needs and the file does not give.
Result<std::vector<onnxlib::FileNode>> plainForm(const onnxlib::FileNode& node, AdaptContext& context);

}  // namespace fusescope
