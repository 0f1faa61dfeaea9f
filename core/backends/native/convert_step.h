#pragma once

#include <memory>

#include "backends/native/program.h"

namespace fusescope::native {

/// Whether makeConvertStep() knows the pair.
bool canConvert(DataType from, DataType to);

/// Converts elements between types as ONNX Cast does: floats round to nearest even, float to integer truncates towards
/// zero, to bool is "not zero". Both sides dense and in one format, or row-major with equal element counts; types of 4
/// bits and strings excluded.
std::unique_ptr<Step> makeConvertStep(const Ref& from, const Ref& to, int threads);
/// Rounds f32 to what `type`, a float of 16 bits, can hold. Both sides dense and in one format.
std::unique_ptr<Step> makeRoundStep(const Ref& from, const Ref& to, DataType type, int threads);

}  // namespace fusescope::native
