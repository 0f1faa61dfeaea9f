#include "ui/models/ranges_contents.h"

#include <algorithm>
#include <cmath>

#include "session/calibrate.h"
#include "ui/document/qt_text.h"

namespace fusescope {

namespace {

Cell quantityCell(double number) {
  return {.text = QString::number(number, 'g', 4), .sort = number, .number = true};
}

Cell clampedCell(double share) {
  return {.text = QStringLiteral("%1 %").arg(QString::number(100 * share, 'g', 3)),
          .sort = share,
          .tone = share > 0 ? Tone::Plain : Tone::Dim,
          .number = true};
}

}  // namespace

TableContent rangesContent(const Ranges* ranges) {
  TableContent content{{"Edge", "Least", "Most", "Low", "High", "Clamped", "rms of Δ"}, {}, {}};
  if (ranges == nullptr) return content;
  std::vector<std::pair<double, const std::pair<const std::string, EdgeRange>*>> order;
  for (const auto& edge : ranges->edges) order.emplace_back(-clampedShare(edge.second), &edge);
  std::ranges::stable_sort(order, {}, [](const auto& entry) { return entry.first; });
  for (const auto& [clamped, entry] : order) {
    const auto& [value, edge] = *entry;
    const Cell unknown{.text = QStringLiteral("not kept"), .sort = kUnknownLast, .tone = Tone::Dim};
    std::vector<Cell> cells{{.text = qs(value)},           unknown, unknown, quantityCell(edge.range.low),
                            quantityCell(edge.range.high), unknown, unknown};
    if (edge.histogram) {
      cells[1] = quantityCell(edge.histogram->least());
      cells[2] = quantityCell(edge.histogram->most());
      cells[5] = clampedCell(-clamped);
      cells[6] =
          quantityCell(std::sqrt(quantizationError(*edge.histogram, edge.range, ranges->settings.choice.symmetric)));
      for (const std::size_t estimated : {5, 6})
        cells[estimated].tip =
            QStringLiteral("Estimated from the histogram, in bins %1 wide").arg(edge.histogram->width());
    }
    content.rows.push_back({qs(value), std::move(cells)});
  }
  return content;
}

QString rangesInWords(const Ranges& ranges, const QString& from) {
  QString text = plural(std::ssize(ranges.edges), QStringLiteral("edge"));
  if (!ranges.weights.empty())
    text += QStringLiteral(" and ") + plural(std::ssize(ranges.weights), QStringLiteral("weight"));
  text += QStringLiteral(" by %1").arg(qs(name(ranges.settings.choice.method)));
  if (ranges.samples > 0)
    text += QStringLiteral(", of ") +
            plural(ranges.samples, ranges.randomInputs ? QStringLiteral("random sample") : QStringLiteral("sample"));
  if (ranges.from == "tensorrt") text += QStringLiteral(", of TensorRT's calibration cache");
  return from.isEmpty() ? text : QStringLiteral("%1 (%2)").arg(text, from);
}

}  // namespace fusescope
