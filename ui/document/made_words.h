#pragma once

#include <QString>
#include <optional>

#include "planning/read_back/read_back_plan.h"

namespace fusescope {

// Texts about what another compiler made of a network.

/// Returns the text for something that a compiler does not report: "not disclosed".
QString undisclosed();
/// Returns "f16", or that it is not disclosed.
QString typeWord(DataType type);
/// Returns "not disclosed [1, 64]" for a value whose stored type is not reported.
std::string undisclosedText(const TensorType& type);

/// Returns the fate of a node without a kernel as a badge, "folded"; empty for a node with a kernel.
QString fateWord(Fate fate);
/// Returns the fate of any node as a sentence: "Folded: it was calculated when the network was compiled."
QString fateText(Fate fate);
/// Returns "named: the compiler names the node".
QString certaintyText(Certainty certainty);
/// Returns "obeyed", …
QString pinResultText(PinResult result);

/// Returns the certainty that `fused` contains `node`; nothing for a kernel of our own engine, or for null.
std::optional<Certainty> certaintyOf(const ReadBackPlan& made, const FusedNode* fused, NodeId node);
/// Returns the lowest certainty of all nodes of a kernel.
std::optional<Certainty> leastCertain(const ReadBackPlan& made, const FusedNode& fused);

/// Returns "onnxruntime 1.20".
QString compilerTitle(const CompilerIdentity& compiler);
/// Returns whose kernels a cover has: "kernels as onnxruntime 1.20 made them"; for a plan for another compiler that
/// they are predicted; empty for our own.
QString coverWords(const Cover& cover);

}  // namespace fusescope
