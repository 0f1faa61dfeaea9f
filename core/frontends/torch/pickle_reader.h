#pragma once

#include <cstddef>
#include <span>

#include "base/result.h"
#include "frontends/torch/pickle.h"

namespace fusescope::torch {

/// Reads the pickle of a file that torch.save() wrote, without running any of it. It supports tensors, lists, tuples,
/// dictionaries, numbers, texts and truth values; README.md has the list. Errors give the byte. It is an error if an
/// opcode or a name is not supported (the error says which), or if the pickle is truncated, out of order, or too large.
Result<Pickle> readPickle(std::span<const std::byte> bytes);

}  // namespace fusescope::torch
