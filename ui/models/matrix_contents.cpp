#include "ui/models/matrix_contents.h"

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "session/reports/report_tables.h"
#include "ui/document/qt_text.h"

namespace fusescope {

namespace {

bool isMeasured(const KnownTime& time) {
  return time.how == "run" || time.how == "built";
}

/// Returns B's time minus A's if both have comparable sources: both were timed under the same conditions, or both are
/// predicted.
std::optional<double> apart(const MatrixRow& row, std::size_t side, const RunMatrix& matrix) {
  const KnownTime &first = row.cells.front().time, &own = row.cells[side].time;
  if (side == 0 || !matrix.columns[side].unlike.empty()) return {};
  if (!first.ms || !own.ms || isMeasured(first) != isMeasured(own)) return {};
  return *own.ms - *first.ms;
}

double largestApart(const RunMatrix& matrix) {
  double largest = 0;
  for (const MatrixRow& row : matrix.rows)
    for (std::size_t side = 1; side < row.cells.size(); ++side)
      largest = std::max(largest, std::abs(apart(row, side, matrix).value_or(0)));
  return largest;
}

QString cellTip(const MatrixCell& cell, std::optional<double> delta, const MatrixColumn& column) {
  QStringList lines;
  for (const std::string& kernel : cell.kernels) lines << qs(kernel);
  lines << qs(reportHow(cell.time.how));
  if (delta)
    lines << QStringLiteral("%1 against the first run; they were not timed in turns").arg(signedMsText(*delta));
  if (!column.unlike.empty())
    lines << QStringLiteral("Timed under other conditions than the first run: %1").arg(qs(joined(column.unlike)));
  return lines.join(QLatin1Char('\n'));
}

Cell matrixCell(const MatrixRow& row, std::size_t side, const RunMatrix& matrix, double largest) {
  const MatrixCell& cell = row.cells[side];
  if (cell.kernels.empty())
    return {.text = QStringLiteral("no kernel"), .sort = kUnknownLast, .tone = Tone::Dim, .number = true};
  const auto delta = apart(row, side, matrix);
  const bool measured = isMeasured(cell.time);
  QStringList parts{cell.time.ms                  ? (measured ? QString() : QStringLiteral("~")) + msText(cell.time.ms)
                    : cell.time.how == "emulated" ? QStringLiteral("emulated")
                                                  : QStringLiteral("time unknown")};
  if (delta) parts[0] += QStringLiteral(" (%1)").arg(signedMsText(*delta));
  if (!cell.types.empty()) parts << qs(joined(cell.types, "+"));
  if (cell.kernels.size() > 1) parts << QStringLiteral("%1 kernels").arg(cell.kernels.size());
  Cell shown{.text = parts.join(QStringLiteral(" · ")),
             .sort = cell.time.ms.value_or(kUnknownLast),
             .tip = cellTip(cell, delta, matrix.columns[side]),
             .tone = measured ? Tone::Plain : Tone::Dim,
             .number = true};
  if (!delta || largest <= 0) return shown;
  shown.bar = std::abs(*delta) / largest;
  if (measured && *delta != 0) shown.tone = *delta < 0 ? Tone::Good : Tone::Bad;
  return shown;
}

}  // namespace

TableContent matrixContent(const RunMatrix& matrix) {
  TableContent content{{QStringLiteral("Nodes")}, {QStringLiteral("Kernels that cover the same nodes")}, {}};
  for (const MatrixColumn& column : matrix.columns) {
    const QString title = qs(column.title);
    content.headers << (column.unlike.empty() ? title : QStringLiteral("⚠ ") + title);
    content.headerTips << (column.unlike.empty()
                               ? title
                               : QStringLiteral("%1 was timed under other conditions than the first run: %2")
                                     .arg(title, qs(joined(column.unlike))));
  }
  const double largest = largestApart(matrix);
  for (const MatrixRow& row : matrix.rows) {
    TableRow shown{row.nodes.empty() ? QString() : qs(row.nodes.front()), {}};
    const QString name = qs(row.name);
    shown.cells.push_back({.text = row.same ? name : QStringLiteral("≠ ") + name,
                           .sort = name,
                           .tip = QStringLiteral("%1\n%2").arg(name, qs(joined(row.nodes))),
                           .tone = row.same ? Tone::Plain : Tone::Warning});
    for (std::size_t side = 0; side < row.cells.size(); ++side)
      shown.cells.push_back(matrixCell(row, side, matrix, largest));
    content.rows.push_back(std::move(shown));
  }
  return content;
}

QString matrixSummary(const RunMatrix& matrix) {
  QStringList parts, unlike;
  for (const MatrixColumn& column : matrix.columns) {
    parts << QStringLiteral("%1: %2").arg(
        qs(column.title), column.medianMs ? msText(column.medianMs) : QStringLiteral("not timed as a whole"));
    if (!column.unlike.empty()) unlike << QStringLiteral("%1 (%2)").arg(qs(column.title), qs(joined(column.unlike)));
  }
  QString text = parts.join(QStringLiteral(" · "));
  if (unlike.isEmpty()) return text;
  return text + QStringLiteral(". ⚠ Timed under other conditions than the first one; which is faster is unknown: ") +
         unlike.join(QStringLiteral("; "));
}

}  // namespace fusescope
