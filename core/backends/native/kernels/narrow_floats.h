#pragma once

#include <cstddef>

#include "backends/native/kernels/stored_floats.h"

namespace fusescope::native {

// Conversions between f32 and the narrow floats of stored_floats.h.

void toFloats(const Half* source, float* target, std::size_t count);
void toFloats(const Brain* source, float* target, std::size_t count);
void fromFloats(const float* source, Half* target, std::size_t count);
void fromFloats(const float* source, Brain* target, std::size_t count);

/// The same with the type at run time; f32 is copied.
void toFloats(const Floats& source, float* target, std::size_t count);
void fromFloats(const float* source, const Floats& target, std::size_t count);

/// Calculates target = source rounded to the narrow float `type`; both may be the same memory.
void roundFloats(DataType type, const float* source, float* target, std::size_t count);

}  // namespace fusescope::native
