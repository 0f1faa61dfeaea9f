#pragma once

#include <QString>
#include <QStringList>
#include <cstdint>

#include "planning/read_back/read_back_plan.h"

namespace fusescope {

/// The comparison of predicted kernels with those that a compiler made, in numbers. Nodes in fallback are excluded on
/// both sides, and so are views, for which nothing runs.
struct PredictionCheck {
  std::int64_t predicted = 0;     ///< kernels of our plan
  std::int64_t made = 0;          ///< kernels of the compiler that contain nodes of the network
  std::int64_t differing = 0;     ///< of those: kernels with other nodes than any kernel of our plan
  std::int64_t withoutNodes = 0;  ///< other kernels of the compiler, without nodes of the network
  Agreement agreement;
};

/// Returns the number of kernels of `plan` that another compiler is predicted to run.
std::int64_t predictedKernels(const Plan& plan);
/// Makes the comparison. `predicted` is our plan, for the network of `made`. May run on any thread.
PredictionCheck checkPrediction(const Plan& predicted, const ReadBackPlan& made);

/// Returns "predicted 27 kernels".
QString predictedWords(std::int64_t kernels);
/// Returns "onnxruntime 1.20 made 29 with nodes, 3 differ (F1 of edges 0.93)".
QString madeWords(const PredictionCheck& check, const CompilerIdentity& compiler);
/// Returns both of these as one line, followed by shorter texts for the same line, each of which contains both counts.
QStringList predictedAndMade(const PredictionCheck& check, const CompilerIdentity& compiler);
/// Returns sentences that explain what these numbers count.
QString countsText(const PredictionCheck& check, const CompilerIdentity& compiler);
/// Returns "0.93"; a dash if there is nothing to divide by.
QString shareText(const std::optional<double>& share);

}  // namespace fusescope
