#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>

#include "compilers/compiler.h"
#include "compilers/probed/marked_values.h"
#include "verify/layer_errors.h"

namespace fusescope {

/// How far what `lowered`, a network that another compiler compiled, gives is from `exact`, the same network in float32
/// on our own engine. Errors are carried ones: what a kernel of another compiler adds by itself cannot be told, for
/// nobody can hand it exact inputs. Of outputs, of values inside that both hand out, and of `inner`, which
/// innerValues() had: what of these is not there stands in LayerErrorReport::notMeasured. Errors: those of running.
Result<LayerErrorReport> carriedErrors(Engine& lowered, Engine& exact,
                                       std::span<const std::map<std::string, Tensor>> samples,
                                       const LayerErrorOptions& options, const MarkedValues& inner = {});

/// Returns the values between the kernels of `lowered`, if another compiler compiled the network as a whole and can
/// return these values without changing its kernels; otherwise nothing. Error: cancellation.
Result<MarkedValues> innerValues(const Engine& lowered, std::span<const std::map<std::string, Tensor>> samples,
                                 const BuildOptions& options);

}  // namespace fusescope
