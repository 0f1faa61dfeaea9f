#pragma once

#include <memory>

#include "backends/native/program.h"

namespace fusescope::native {

/// Whether makeFormatStep() can bring a tensor of `type` from the one format into the other.
bool canMoveInto(DataType type, const MemoryFormat& from, const MemoryFormat& to);

/// Brings a dense tensor of elements of 16 bits into another format, any order of axes with or without channels in
/// blocks of 8 or 16. It moves bits: unlike oneDNN's, which widen bf16 on the way and then take subnormals for zero,
/// and which are not there for f16 on every CPU. What fills up the last block is 0.
std::unique_ptr<Step> makeFormatStep(const Ref& from, const Ref& to, int threads);

}  // namespace fusescope::native
