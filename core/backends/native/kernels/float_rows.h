#pragma once

#include "backends/native/kernels/narrow_floats.h"
#include "backends/native/region_program.h"

namespace fusescope::native {

// Stretches of a row-major tensor of f32 or of narrow floats, as kernels of rows read and write them.

/// Returns the elements from `begin` on.
Floats floatsAt(const Ref& ref, Memory memory, std::int64_t begin = 0);

/// Returns `count` elements from `begin` on as f32: at their place in memory, or widened into `own`.
const float* readFloats(const Ref& ref, Memory memory, std::int64_t begin, std::int64_t count, float* own);
/// Returns where a kernel may write such elements before storeFloats(): their place in memory, or `own`.
float* placeFloats(const Ref& ref, Memory memory, std::int64_t begin, float* own);
/// Rounds `from`, which placeFloats() returned, to its place in memory.
void storeFloats(const Ref& ref, Memory memory, std::int64_t begin, std::int64_t count, const float* from);

/// Returns how many floats a thread needs for rows of `count` elements of `from` and `to`; 0 if both are f32.
std::size_t rowBytes(const Ref& from, const Ref& to, std::int64_t count);

}  // namespace fusescope::native
