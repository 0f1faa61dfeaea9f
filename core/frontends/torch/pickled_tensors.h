#pragma once

#include <cstdint>

#include "base/result.h"
#include "frontends/torch/pickle.h"

namespace fusescope::torch {

// These functions determine the results of the calls in a pickle from their arguments. Nothing is called.

/// Returns the result of calling `callee` with the tuple `arguments`: a tensor, a parameter's tensor, or an empty
/// dictionary. It is an error if the callee cannot be called, or if torch.save() does not write such arguments.
Result<PickleValue> madeByCall(const Pickle& pickle, std::uint32_t callee, std::uint32_t arguments);
/// Returns the storage that a persistent id names: ('storage', type, key, location, number of elements).
Result<PickleValue> storageOf(const Pickle& pickle, std::uint32_t id);

}  // namespace fusescope::torch
