#pragma once

#include "compilers/tensorrt/engine_reader.h"

namespace fusescope {

/// readEngine() of an engine that Fusescope had built, of a network with numbers for names: told in the names of the
/// plan, and without what is only of engines that others built.
ReadBack readBuiltEngine(const HandedNetwork& network, const EngineFiles& files);

}  // namespace fusescope
