#pragma once

#include <vector>

#include "planning/steps.h"

namespace fusescope {

/// A target that only reads files has a parser of its own, which does not know the operators that an optimiser wrote
/// into this one, whatever they stand for. Puts a refusal in place of the verdicts of the nodes that stand for one;
/// `verdicts` are one per node, in order.
void refuseOptimisedOperators(const Model& model, const Target& target, std::vector<NodeVerdict>& verdicts);

/// Import writes the functions of ONNX that we have no operator for as the nodes of their bodies. Refuses those nodes
/// where the parser of such a target does not know the function; `verdicts` as above.
void refuseInlinedOperators(const Model& model, const Target& target, std::vector<NodeVerdict>& verdicts);

/// TensorRT's parser reads Einsums with letters in lower case only ("Invalid character(s) in Einsum equation"),
/// whatever normalisation makes of the node. Says of those with others how an export writes them; refuses those that 26
/// letters do not say.
void judgeEinsumLetters(const Model& model, const Target& target, std::vector<NodeVerdict>& verdicts);

}  // namespace fusescope
