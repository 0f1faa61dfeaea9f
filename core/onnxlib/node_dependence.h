#pragma once

#include "onnxlib/onnxlib.h"

namespace fusescope::onnxlib {

// What the results of a node depend on besides the numbers that it reads.

/// Whether a node of ai.onnx gives other numbers each time that it is run.
bool isRandom(const FileNode& node);
/// Whether a node reads the extents of its operand and none of its numbers.
bool readsExtentsOnly(const FileNode& node);

}  // namespace fusescope::onnxlib
