#pragma once

#include <functional>
#include <memory>

#include "backends/native/program.h"

namespace fusescope::native {

/// Makes a step that gives the same as another one, and keeps what is not a number. It brings the memory that it
/// works in: `free` is the first index behind the buffers of the program.
using MakeExactStep = std::function<Result<std::unique_ptr<Step>>(BufferIndex free)>;

/// `fast`, which may lose what is not a number (number_checks.h). Where it has met something invalid, what `exact`
/// makes runs in its place: that is made when it is first needed, and takes memory of its own.
std::unique_ptr<Step> makeRecheckedStep(std::unique_ptr<Step> fast, MakeExactStep exact);

}  // namespace fusescope::native
