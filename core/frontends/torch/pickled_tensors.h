#pragma once

#include "frontends/torch/pickle.h"

namespace fusescope::torch {

// What the calls in a pickle would make, found from their arguments. Nothing is called.

/// What calling `callee` with the tuple `arguments` would make: a tensor, a parameter's tensor, an empty dictionary.
/// Errors: the callee cannot be called, or its arguments are none that torch.save() writes.
Result<PickleValue> madeByCall(const Pickle& pickle, std::uint32_t callee, std::uint32_t arguments);
/// The storage that a persistent id names: ('storage', type, key, where it was, how many elements).
Result<PickleValue> storageOf(const Pickle& pickle, std::uint32_t id);

}  // namespace fusescope::torch
