#include "ui/docks/tensor_facts.h"

#include <algorithm>
#include <limits>

#include "base/float_bits.h"
#include "ui/document/qt_text.h"

namespace fusescope {

namespace {

/// The most cells of the picture of a slice along each axis.
constexpr std::int64_t kMostCells = 256;

/// Returns the largest finite number of a float type.
double largestIn(DataType type) {
  if (type == DataType::F16) return 65504;
  if (type == DataType::BF16) return static_cast<double>(fromBFloat16Bits(0x7F7F));
  return std::numeric_limits<float>::max();
}

QString cellHtml(const QString& text, const QString& style) {
  return QStringLiteral("<td style='white-space:nowrap; padding:1px 12px 1px 0; %1'>%2</td>").arg(style, text);
}

QString rowHtml(const StatisticsRow& row, const Theme& theme) {
  QString cells = cellHtml(html(row.title), QStringLiteral("color:%1").arg(theme.dimText.name()));
  for (const std::string& text : row.cells) {
    const bool isWarning = row.isLoss && text != "0" && text != "-";
    const QString style = isWarning
                              ? QStringLiteral("text-align:right; font-weight:600; color:%1").arg(theme.warning.name())
                              : QStringLiteral("text-align:right");
    cells += cellHtml((isWarning ? QStringLiteral("⚠ ") : QString()) + html(text), style);
  }
  return QStringLiteral("<tr>%1</tr>").arg(cells);
}

QString paragraphHtml(const QString& text) {
  return QStringLiteral("<p style='margin:4px 0'>%1</p>").arg(text);
}

}  // namespace

std::shared_ptr<const TensorFacts> tensorFacts(std::vector<std::pair<QString, Tensor>> tensors, const StopToken& stop) {
  auto facts = std::make_shared<TensorFacts>();
  for (auto& [title, tensor] : tensors) {
    auto statistics = statisticsOf(tensor, kMostLookedAt, stop);
    if (!statistics.ok()) return nullptr;
    facts->shown.push_back({title.toStdString(), std::move(tensor), std::move(statistics).value()});
  }
  if (facts->shown.size() == 2) {
    auto difference = differenceOf(facts->shown[1].tensor, facts->shown[0].tensor, stop);
    if (!difference.ok()) return nullptr;
    facts->difference = std::move(difference).value();
  }
  for (const ShownTensor& shown : facts->shown) {
    const bool fits = facts->sliced.empty() || shown.tensor.dims() == facts->sliced.front().tensor.dims();
    if (shown.statistics.unavailable.empty() && fits) facts->sliced.push_back(shown);
  }
  if (facts->difference && facts->difference->unavailable.empty())
    facts->sliced.push_back({"difference", facts->difference->tensor, {}});
  return facts;
}

std::shared_ptr<const TensorSlices> tensorSlices(const TensorFacts& facts, const SliceChoice& choice,
                                                 const StopToken& stop) {
  auto slices = std::make_shared<TensorSlices>();
  for (const ShownTensor& shown : facts.sliced) {
    auto slice = sliceOf(shown.tensor, choice, kMostCells, kMostCells, stop);
    if (!slice.ok()) return nullptr;
    slices->push_back(std::make_shared<TensorSlice>(std::move(slice).value()));
  }
  return slices;
}

QString tensorHtml(const TensorFacts& facts, const Theme& theme) {
  std::vector<const ShownTensor*> numbers;
  QString text, notes;
  for (const ShownTensor& shown : facts.shown) {
    const QString title = html(shown.title);
    if (!shown.statistics.unavailable.empty()) {
      notes += paragraphHtml(QStringLiteral("<b>%1</b>: %2.").arg(title, html(shown.statistics.unavailable)));
    } else {
      numbers.push_back(&shown);
    }
    for (const std::string& words : {distinctWords(shown.statistics), lookedWords(shown.statistics)})
      if (!words.empty()) notes += paragraphHtml(QStringLiteral("%1: %2").arg(title, html(words)));
  }
  if (!numbers.empty()) {
    QString head = cellHtml({}, {});
    for (const ShownTensor* shown : numbers)
      head += cellHtml(QStringLiteral("<b>%1</b>").arg(html(shown->title)), QStringLiteral("text-align:right"));
    text = QStringLiteral("<table cellspacing='0'><tr>%1</tr>").arg(head);
    for (const StatisticsRow& row : statisticsRows(numbers)) text += rowHtml(row, theme);
    text += QStringLiteral("</table>");
  }
  if (facts.difference)
    for (const std::string& words : differenceWords(*facts.difference)) text += paragraphHtml(html(words));
  return text + notes;
}

std::optional<TensorHistogram> tensorHistogram(const TensorStatistics& statistics, DataType type) {
  if (!statistics.hasNumbers() || statistics.histogram.count() == 0) return {};
  TensorHistogram histogram{
      .numbers = {.range = {statistics.least, statistics.most}, .histogram = statistics.histogram}};
  const QString all = QStringLiteral("%1 … %2").arg(QString::number(statistics.least, 'g', 3),
                                                    QString::number(statistics.most, 'g', 3));
  histogram.words = all;
  const auto counts = std::ranges::find(statistics.narrow, type, &NarrowCounts::type);
  if (counts == statistics.narrow.end()) return histogram;
  const double largest = largestIn(type);
  histogram.numbers.range = {std::clamp(statistics.least, -largest, largest),
                             std::clamp(statistics.most, -largest, largest)};
  histogram.words += counts->overflow == 0
                         ? QStringLiteral(", all in the range of %1").arg(qs(type))
                         : QStringLiteral(", %1 beyond the range of %2").arg(counts->overflow).arg(qs(type));
  return histogram;
}

}  // namespace fusescope
