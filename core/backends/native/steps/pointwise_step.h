#pragma once

#include <memory>

#include "backends/native/tape_program.h"

namespace fusescope::native {

std::unique_ptr<Step> makePointwiseStep(TapeProgram program, int threads);

}  // namespace fusescope::native
