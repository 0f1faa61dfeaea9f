#pragma once

#include <memory>

#include "backends/native/region_program.h"

namespace fusescope::native {

/// Returns whether makeFormatStep() can convert a tensor of `type` between these formats.
bool canMoveInto(DataType type, const MemoryFormat& from, const MemoryFormat& to);

/// Makes a step that converts a dense tensor of 16-bit elements to another format: any order of axes, with or without
/// channels in blocks of 8 or 16. It moves bits, unlike oneDNN's conversions, which widen bf16 and then treat subnormal
/// numbers as zero, and which are not available for f16 on every CPU. Padding of the last block is 0.
std::unique_ptr<Step> makeFormatStep(const Ref& from, const Ref& to, int threads);

}  // namespace fusescope::native
