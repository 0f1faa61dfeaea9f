#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>

#include "compilers/compiler.h"
#include "compilers/probed/marked_values.h"
#include "verify/layer_errors.h"

namespace fusescope {

/// Measures the errors of `lowered`, a network that another compiler compiled, against `exact`, the same network in
/// float32 on our own engine. The errors are carried errors; the error that a single kernel adds cannot be measured,
/// because another compiler's kernel cannot be run on exact inputs. They are measured for outputs, for inner values
/// that both engines return, and for the values in `inner` from innerValues(); values of these that are missing are
/// listed in LayerErrorReport::notMeasured. Errors: those of running.
Result<LayerErrorReport> carriedErrors(Engine& lowered, Engine& exact,
                                       std::span<const std::map<std::string, Tensor>> samples,
                                       const LayerErrorOptions& options, const MarkedValues& inner = {});

/// Returns the values between the kernels of `lowered`, if another compiler compiled the network as a whole and can
/// return these values without changing its kernels; otherwise nothing. Error: cancellation.
Result<MarkedValues> innerValues(const Engine& lowered, std::span<const std::map<std::string, Tensor>> samples,
                                 const BuildOptions& options);

}  // namespace fusescope
