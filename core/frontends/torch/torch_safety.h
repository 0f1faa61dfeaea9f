#pragma once

#include <string_view>

#include "base/result.h"
#include "frontends/torch/pt2_file.h"

namespace fusescope::torch {

// When PyTorch loads a .pt2, it does more than read it: it falls back to unrestricted pickles, loads libraries in the
// archive, and lets SymPy evaluate texts of extents as Python. For this reason a file is passed to PyTorch only if
// everything in it is known here.

/// Checks that `file` contains nothing that our reader ignores and PyTorch would load or run. The error names the
/// member or the text. Pickles are not checked, because every caller has already read the tensors and the examples.
Status checkForTorch(const Pt2File& file);

/// Returns whether `text`, an expression of extents, consists only of numbers, symbols and calls of SymPy's functions
/// of numbers.
bool isHarmlessExpression(std::string_view text);

}  // namespace fusescope::torch
