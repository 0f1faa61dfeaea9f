#pragma once

#include <string_view>

#include "base/result.h"
#include "frontends/torch/pt2_file.h"

namespace fusescope::torch {

// What PyTorch does with a .pt2 that it loads goes beyond reading: it falls back to unrestricted pickles, loads
// libraries that are in the archive, and has SymPy evaluate the texts of extents as Python. So a file is handed to it
// only where all of it is known here.

/// Errors name the member or the text: something in `file` that our reader passes over, and PyTorch would load or run.
/// Pickles are not looked into: whoever asks has read the tensors and the examples.
Status checkForTorch(const Pt2File& file);

/// Whether `text`, an expression of extents, is nothing but numbers, symbols and calls of SymPy's functions of numbers.
bool isHarmlessExpression(std::string_view text);

}  // namespace fusescope::torch
