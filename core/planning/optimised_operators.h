#pragma once

#include <vector>

#include "planning/steps.h"

namespace fusescope {

/// Refuses nodes that stand for operators which an optimiser wrote into the file, if the target reads files with a
/// parser of its own: that parser does not know these operators, even if other operators could express them. `verdicts`
/// has one element per node, in order.
void refuseOptimisedOperators(const Model& model, const Target& target, std::vector<NodeVerdict>& verdicts);

/// Refuses nodes of functions of ONNX for which we have no operator, so that import replaced them by the nodes of their
/// bodies, if the parser of such a target does not know the function. `verdicts` has one element per node, in order.
void refuseInlinedOperators(const Model& model, const Target& target, std::vector<NodeVerdict>& verdicts);

/// Checks Einsums with upper-case letters, which TensorRT's parser does not read ("Invalid character(s) in Einsum
/// equation"). The verdict of such a node says how an export writes it; nodes that need more than 26 letters are
/// refused.
void judgeEinsumLetters(const Model& model, const Target& target, std::vector<NodeVerdict>& verdicts);

}  // namespace fusescope
