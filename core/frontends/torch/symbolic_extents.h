#pragma once

#include <string>
#include <string_view>

#include "frontends/torch/exported_program.h"
#include "ir/extent_expression.h"

namespace fusescope::torch {

/// An expression as exported programs write it: SymPy's own form, "Add(Symbol('s0', positive=True), Integer(1))", or,
/// before PyTorch 2.7, as a formula, "s0 + 1". Not valid() where it says something that extents here cannot.
ExtentExpression extentExpressionOf(std::string_view text);
/// The extent that a number stands for; one whose expression cannot be said here is a symbol of its text.
Dim extentOf(const SymbolicNumber& number);

}  // namespace fusescope::torch
