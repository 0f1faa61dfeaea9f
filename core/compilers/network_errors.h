#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>

#include "compilers/compiler.h"
#include "verify/layer_errors.h"

namespace fusescope {

/// How far what `lowered`, a network that another compiler compiled, gives is from `exact`, the same network in float32
/// on our own engine. Errors are carried ones: what a kernel of another compiler adds by itself cannot be told, for
/// nobody can hand it exact inputs. Of outputs, and of values inside that both hand out. Errors: those of running.
Result<LayerErrorReport> carriedErrors(Engine& lowered, Engine& exact,
                                       std::span<const std::map<std::string, Tensor>> samples,
                                       const LayerErrorOptions& options);

}  // namespace fusescope
