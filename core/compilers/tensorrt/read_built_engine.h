#pragma once

#include "compilers/tensorrt/engine_reader.h"

namespace fusescope {

/// Does the same as readEngine() for an engine that Fusescope itself built from a network with numbers as names. The
/// result has the names of the plan, and omits what only concerns engines that were built elsewhere.
ReadBack readBuiltEngine(const CompilerInput& network, const EngineFiles& files);

}  // namespace fusescope
