#pragma once

#include <memory>

#include "backends/native/region_program.h"

namespace fusescope::native {

/// Returns whether makeConvertStep() supports the pair of types.
bool canConvert(DataType from, DataType to);

/// Makes a step that converts elements between types as ONNX Cast does: floats round to nearest even, float to integer
/// truncates towards zero, and to bool is "not zero". Both tensors are dense in the same format, or row-major with
/// equal element counts. Types of 4 bits and strings are not supported.
std::unique_ptr<Step> makeConvertStep(const Ref& from, const Ref& to, int threads);
/// Makes a step that rounds f32 to the 16-bit float `type`. Both tensors are dense in the same format.
std::unique_ptr<Step> makeRoundStep(const Ref& from, const Ref& to, DataType type, int threads);

}  // namespace fusescope::native
