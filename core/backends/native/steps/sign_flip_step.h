#pragma once

#include <memory>

#include "backends/native/region_program.h"

namespace fusescope::native {

/// Makes a step that subtracts 128 from codes: uint8 `from` becomes int8 `to`, both dense.
std::unique_ptr<Step> makeSignFlipStep(Ref from, Ref to, int threads);

}  // namespace fusescope::native
