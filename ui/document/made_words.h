#pragma once

#include <QString>
#include <optional>

#include "planning/read_back_plan.h"

namespace fusescope {

// What another compiler made of a network, in words for people.

/// "not disclosed": what a compiler does not say.
QString undisclosed();
/// "f16", or that it is not disclosed.
QString typeWord(DataType type);
/// "not disclosed [1, 64]": of a value whose stored type is not told.
std::string undisclosedText(const TensorType& type);

/// What became of a node that has no kernel, as a badge: "folded"; empty of one that has.
QString fateWord(Fate fate);
/// The same of any node, as a sentence: "Folded: it was calculated when the network was compiled."
QString fateText(Fate fate);
/// "named: the compiler names the node"
QString certaintyText(Certainty certainty);
/// "obeyed", …
QString pinResultText(PinResult result);

/// How it is known that `fused` holds `node`; nothing of a kernel of our own engine, or of none (null).
std::optional<Certainty> certaintyOf(const ReadBackPlan& made, const FusedNode* fused, NodeId node);
/// Of all nodes of a kernel the one that is known least.
std::optional<Certainty> leastCertain(const ReadBackPlan& made, const FusedNode& fused);

/// "onnxruntime 1.20"
QString compilerTitle(const CompilerIdentity& compiler);
/// Whose kernels a cover has: "kernels as onnxruntime 1.20 made them"; of a plan for another compiler that they are
/// predicted; empty of one for our own.
QString coverWords(const Cover& cover);

}  // namespace fusescope
