#pragma once

#include <functional>
#include <memory>

#include "backends/native/region_program.h"

namespace fusescope::native {

/// Makes a step that gives the same result as another one and preserves NaN. It has its own memory; `free` is the first
/// index after the buffers of the program.
using MakeExactStep = std::function<Result<std::unique_ptr<Step>>(BufferIndex free)>;

/// Makes a step that runs `fast`, which may lose NaN (number_checks.h). If an invalid operation occurred, it runs the
/// step that `exact` makes instead; that step is made when it is first needed, and has memory of its own.
std::unique_ptr<Step> makeRecheckedStep(std::unique_ptr<Step> fast, MakeExactStep exact);

}  // namespace fusescope::native
