#include "ui/document/prediction_check.h"

#include <algorithm>
#include <vector>

#include "planning/kinds.h"
#include "ui/document/made_words.h"
#include "ui/document/qt_text.h"

namespace fusescope {

namespace {

bool isPredicted(const Plan& plan, const FusedNode& fused) {
  return !plan.inFallback(fused) && fused.kind != kinds::kView;
}

/// Returns the identities of the plan's kernels, sorted.
std::vector<Hash128> identitiesOf(const Plan& plan) {
  std::vector<Hash128> identities;
  identities.reserve(plan.fusedNodes.size());
  for (const FusedNode& fused : plan.fusedNodes)
    if (isPredicted(plan, fused)) identities.push_back(fused.identity);
  std::ranges::sort(identities);
  return identities;
}

QString differWords(const PredictionCheck& check) {
  return check.differing == 0   ? QStringLiteral("none differs")
         : check.differing == 1 ? QStringLiteral("1 differs")
                                : QStringLiteral("%1 differ").arg(check.differing);
}

}  // namespace

std::int64_t predictedKernels(const Plan& plan) {
  return std::ranges::count_if(plan.fusedNodes, [&](const FusedNode& fused) { return isPredicted(plan, fused); });
}

PredictionCheck checkPrediction(const Plan& predicted, const ReadBackPlan& made) {
  const std::vector<Hash128> ours = identitiesOf(predicted);
  PredictionCheck check{.predicted = static_cast<std::int64_t>(ours.size()), .agreement = made.agreement};
  for (const FusedNode& fused : made.fusedNodes) {
    if (made.kernels[fused.id.index].isOurs) continue;
    if (fused.nodes.empty()) {
      ++check.withoutNodes;
      continue;
    }
    ++check.made;
    if (!std::ranges::binary_search(ours, fused.identity)) ++check.differing;
  }
  return check;
}

QString predictedWords(std::int64_t kernels) {
  return QStringLiteral("predicted %1").arg(plural(kernels, QStringLiteral("kernel")));
}

QString shareText(const std::optional<double>& share) {
  return share ? QString::number(*share, 'f', 2) : QStringLiteral("–");
}

QString madeWords(const PredictionCheck& check, const CompilerIdentity& compiler) {
  const QString made = QStringLiteral("%1 made %2 with nodes").arg(compilerTitle(compiler)).arg(check.made);
  if (check.predicted == 0) return made;
  const auto f1 = check.agreement.f1();
  return QStringLiteral("%1, %2").arg(made, differWords(check)) +
         (f1 ? QStringLiteral(" (F1 of edges %1)").arg(shareText(f1)) : QString());
}

QStringList predictedAndMade(const PredictionCheck& check, const CompilerIdentity& compiler) {
  if (check.predicted == 0)
    return {madeWords(check, compiler), QStringLiteral("%1 made %2").arg(qs(compiler.name)).arg(check.made)};
  const QString predicted = predictedWords(check.predicted), differ = differWords(check);
  const QString made = QString::number(check.made), title = compilerTitle(compiler);
  return {
      QStringLiteral("%1 · %2").arg(predicted, madeWords(check, compiler)),
      QStringLiteral("%1 · %2 made %3 with nodes, %4").arg(predicted, title, made, differ),
      QStringLiteral("%1 · %2 made %3, %4").arg(predicted, qs(compiler.name), made, differ),
      QStringLiteral("predicted %1 · made %2, %3").arg(check.predicted).arg(made, differ),
      QStringLiteral("predicted %1 · made %2").arg(check.predicted).arg(made),
  };
}

QString countsText(const PredictionCheck& check, const CompilerIdentity& compiler) {
  const QString title = compilerTitle(compiler);
  if (check.predicted == 0)
    return QStringLiteral(
               "%1 made %2. Our plan predicts no kernels for this network, so that there is nothing to compare.")
        .arg(title, plural(check.made, QStringLiteral("kernel")));
  QString text = QStringLiteral(
                     "Our plan predicts %1; %2 made %3 that contain nodes of the network. %4 of these %5 other nodes "
                     "than any kernel of the prediction.")
                     .arg(plural(check.predicted, QStringLiteral("kernel")), title)
                     .arg(check.made)
                     .arg(check.differing == 0 ? QStringLiteral("None") : QString::number(check.differing),
                          check.differing < 2 ? QStringLiteral("contains") : QStringLiteral("contain"));
  if (check.withoutNodes > 0)
    text += QStringLiteral(" %1 more %2 no node of the network: they move or prepare something.")
                .arg(check.withoutNodes)
                .arg(check.withoutNodes == 1 ? QStringLiteral("kernel contains") : QStringLiteral("kernels contain"));
  text += QStringLiteral(" Views and nodes that fall back to our own engine are left out.");
  if (check.agreement.f1())
    text += QStringLiteral(
        " F1 is the harmonic mean of precision and recall of the edges that share a kernel: 1 where "
        "prediction and fact agree.");
  return text;
}

}  // namespace fusescope
