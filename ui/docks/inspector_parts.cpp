#include "ui/docks/inspector_parts.h"

#include "planning/fused_node_facts.h"
#include "ui/document/made_words.h"
#include "ui/document/option_words.h"
#include "ui/document/qt_text.h"

namespace fusescope {

namespace {

constexpr int kSlowest = 5;          ///< the number of kernels that count as the slowest ones
constexpr double kMuchOfAll = 0.05;  ///< the least share of the time of such a kernel

}  // namespace

QString dim(const QString& text, const Theme& theme) {
  return QStringLiteral("<span style='color:%1'>%2</span>").arg(theme.dimText.name(), text.toHtmlEscaped());
}

QString edgeText(const FusedNode& fused, const InnerEdge& edge, const Theme& theme) {
  if (edge.real) return QStringLiteral("in memory as ") + typeBadge(edge.type, theme);
  if (edge.type == DataType::Undefined) return QStringLiteral("inside the kernel, in a type that is not disclosed");
  const QString held = QStringLiteral("in registers as ") + badge(edge.type, theme);
  return keptInWiderType(fused, edge.value) == nullptr
             ? held
             : held + QStringLiteral(", wider than %1; never stored").arg(qs(fused.compute));
}

QString lostText(const SelectionAnswers* answers, const Theme& theme) {
  if (answers == nullptr) return {};
  QString text;
  for (const LostWeight& weight : answers->lostWeights)
    text += QStringLiteral("<div style='color:%1'>Its %2.</div>").arg(theme.warning.name(), html(inWords(weight)));
  return text;
}

QString predictionText(const Cover& cover, const FusedNode& fused, const Theme& theme) {
  if (fused.nodes.size() < 2 || !isPrediction(cover, fused)) return {};
  const std::string& compiler = cover.options.compiler;
  return QStringLiteral(" <span style='color:%1'>predicted: %2 fuses by its own rules</span>")
      .arg(theme.warning.name(), html(compiler == kOwnCompiler ? cover.target.name : compiler));
}

QString mixedText(const Cover& cover, const FusedNode& fused, const Theme& theme) {
  const std::vector<DataType> types = calculatedTypes(cover, fused);
  if (types.size() < 2) return {};
  QStringList badges;
  for (const DataType type : types) badges << badge(type, theme);
  return QStringLiteral("calculates in ") + badges.join(QStringLiteral(" and "));
}

void addRange(Rows& rows, const CostRange* range) {
  if (range == nullptr) return;
  const auto& [least, most] = *range;
  QString text = QStringLiteral("%1 FLOPs, %2")
                     .arg(rangeText(countText(least.flops), countText(most.flops)),
                          rangeText(bytesText(least.bytes), bytesText(most.bytes)));
  if (least.ms || most.ms) text += QStringLiteral(", ") + rangeText(msText(least.ms), msText(most.ms));
  rows.add(QStringLiteral("least … most"), text);
}

void addTimeAndShare(Rows& rows, const FusedNode& fused, const ShownKernelTime& time, const QString& label,
                     const SelectionAnswers* answers, const Theme& theme) {
  addTime(rows, fused, time, label, theme);
  if (answers == nullptr || !answers->share) return;
  const auto& [part, slower, timedKernels] = *answers->share;
  if (timedKernels < 2 || (slower >= kSlowest && part < kMuchOfAll)) return;
  const QString place = slower == 0 ? QStringLiteral("the slowest of %1").arg(timedKernels)
                                    : QStringLiteral("%1 of %2 are slower").arg(slower).arg(timedKernels);
  rows.add(QStringLiteral("share"), QStringLiteral("<b>%1 %</b> of the run's time in kernels · %2")
                                        .arg(100 * part, 0, 'f', part < 0.1 ? 1 : 0)
                                        .arg(place));
}

}  // namespace fusescope
