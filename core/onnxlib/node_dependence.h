#pragma once

#include "onnxlib/onnxlib.h"

namespace fusescope::onnxlib {

// These functions say on what the results of a node depend besides the numbers of its operands.

/// Returns whether a node of ai.onnx gives different numbers each time it runs.
bool isRandom(const FileNode& node);
/// Returns whether a node reads only the extents of its operand.
bool readsExtentsOnly(const FileNode& node);

}  // namespace fusescope::onnxlib
