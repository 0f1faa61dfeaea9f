#pragma once

#include <QString>
#include <cstdint>

#include "planning/read_back_plan.h"

namespace fusescope {

/// Our prediction of a compiler's kernels beside the kernels that it made, in numbers. Nodes that fall back to our own
/// engine are left out on both sides, and so are views, for which nothing runs.
struct PredictionCheck {
  std::int64_t predicted = 0;     ///< kernels of our plan
  std::int64_t made = 0;          ///< kernels of the compiler that hold nodes of the network
  std::int64_t differing = 0;     ///< of those: kernels that hold other nodes than any kernel of our plan
  std::int64_t withoutNodes = 0;  ///< further kernels of the compiler, which hold no node of the network
  Agreement agreement;
};

/// Kernels of `plan` that another compiler is predicted to run.
std::int64_t predictedKernels(const Plan& plan);
/// `predicted`: our plan, of the network of `made`. Any thread.
PredictionCheck checkPrediction(const Plan& predicted, const ReadBackPlan& made);

/// "predicted 27 kernels"
QString predictedWords(std::int64_t kernels);
/// "onnxruntime 1.20 made 29 with nodes, 3 differ (F1 of edges 0.93)"
QString madeWords(const PredictionCheck& check, const CompilerIdentity& compiler);
/// What these numbers count, in sentences.
QString countsText(const PredictionCheck& check, const CompilerIdentity& compiler);
/// "0.93"; a dash where there is nothing to divide by.
QString shareText(const std::optional<double>& share);

}  // namespace fusescope
