#pragma once

#include <string>
#include <string_view>

#include "frontends/torch/exported_program.h"
#include "ir/extent_expression.h"

namespace fusescope::torch {

/// Reads an expression of an exported program: SymPy's own form, "Add(Symbol('s0', positive=True), Integer(1))", or,
/// before PyTorch 2.7, a formula, "s0 + 1". The result is not valid() if the expression is one that extents here do not
/// support.
ExtentExpression extentExpressionOf(std::string_view text);
/// Returns the extent for a number. If its expression is not supported here, the extent is a symbol with that text.
Dim extentOf(const SymbolicNumber& number);

}  // namespace fusescope::torch
