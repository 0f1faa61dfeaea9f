#pragma once

#include "backends/native/narrow_floats.h"
#include "backends/native/program.h"

namespace fusescope::native {

// Stretches of a row-major tensor of f32 or of narrow floats, as kernels of rows read and write them.

/// From element `begin` on.
Floats floatsAt(const Ref& ref, Memory memory, std::int64_t begin = 0);

/// `count` elements from `begin` on: where they are, or widened into `own`.
const float* readFloats(const Ref& ref, Memory memory, std::int64_t begin, std::int64_t count, float* own);
/// Where a kernel may write such a stretch before storeFloats(): where it belongs, or `own`.
float* placeFloats(const Ref& ref, Memory memory, std::int64_t begin, float* own);
/// Rounds `from`, which placeFloats() gave, to where it belongs.
void storeFloats(const Ref& ref, Memory memory, std::int64_t begin, std::int64_t count, const float* from);

/// Floats that a thread needs for rows of `count` elements of `from` and `to`: none where both are f32.
std::size_t rowBytes(const Ref& from, const Ref& to, std::int64_t count);

}  // namespace fusescope::native
