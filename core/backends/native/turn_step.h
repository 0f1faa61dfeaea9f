#pragma once

#include <memory>

#include "backends/native/program.h"

namespace fusescope::native {

/// codes less 128: uint8 `from` as int8 `to`, both dense.
std::unique_ptr<Step> makeTurnStep(Ref from, Ref to, int threads);

}  // namespace fusescope::native
