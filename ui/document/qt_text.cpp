#include "ui/document/qt_text.h"

#include <QStringList>
#include <QTextDocument>
#include <array>
#include <cmath>

#include "base/quantities.h"

namespace fusescope {

QString countText(std::optional<std::int64_t> count) {
  if (!count) return QStringLiteral("unknown");
  constexpr std::array kUnits{"", " k", " M", " G", " T"};
  double value = static_cast<double>(*count);
  std::size_t unit = 0;
  for (; std::abs(value) >= 1000 && unit + 1 < kUnits.size(); ++unit) value /= 1000;
  const int digits = unit == 0 ? 0 : (std::abs(value) < 10 ? 2 : (std::abs(value) < 100 ? 1 : 0));
  return QString::number(value, 'f', digits) + QLatin1String(kUnits[unit]);
}

QString bytesText(std::optional<std::int64_t> bytes) {
  return bytes ? qs(inBytes(*bytes)) : QStringLiteral("unknown");
}

QString rangeText(const QString& least, const QString& most) {
  return QStringLiteral("%1 … %2").arg(least, most);
}

QString msText(std::optional<double> ms) {
  return ms ? qs(inTime(*ms)) : QStringLiteral("unknown");
}

QString signedMsText(double ms) {
  return qs(inTimeDifference(ms));
}

QString predictedText(double ms, PriceSource how, double spread) {
  const QString within = QStringLiteral("± %1 %").arg(100 * spread, 0, 'f', 0);
  if (how == PriceSource::Fitted)
    return QStringLiteral("about %1, fitted to measurements of other kernels (%2)").arg(msText(ms), within);
  return QStringLiteral("%1, measured before (%2)").arg(msText(ms), within);
}

QString predictedText(const FusedNode& fused) {
  if (fused.predictedMs) return predictedText(*fused.predictedMs, fused.predictedHow, fused.predictedSpread);
  if (!fused.bodyTime) return {};
  const BodyTime& time = *fused.bodyTime;
  const QString range =
      time.leastMs == time.mostMs
          ? msText(time.leastMs)
          : QStringLiteral("%1 to %2, depending on the branch taken").arg(msText(time.leastMs), msText(time.mostMs));
  const QString how =
      time.how == PriceSource::Fitted ? QStringLiteral("fitted in part") : QStringLiteral("measured before");
  if (!time.perIteration) return QStringLiteral("%1 (%2)").arg(range, how);
  return QStringLiteral("%1 per iteration (%2); the number of iterations depends on the data").arg(range, how);
}

QString precisionsText(const std::vector<DataType>& precisions) {
  QStringList names;
  for (const DataType type : precisions) names << qs(type);
  return names.isEmpty() ? qs(DataType::F32) : names.join(QStringLiteral(", "));
}

QString bodyTitle(const std::string& attribute) {
  if (attribute == "then_branch") return QStringLiteral("then");
  if (attribute == "else_branch") return QStringLiteral("else");
  return qs(attribute);
}

QString errorText(double error) {
  if (std::isnan(error)) return QStringLiteral("nan");
  if (std::isinf(error)) return error > 0 ? QStringLiteral("inf") : QStringLiteral("-inf");
  if (error == 0) return QStringLiteral("0");
  return QString::number(error, 'g', 3);
}

QString html(std::string_view text) {
  return qs(text).toHtmlEscaped();
}

QString captionText(const QString& text) {
  return QString(text).replace(QLatin1Char('&'), QStringLiteral("&&"));
}

QString tipText(const QString& text) {
  if (!Qt::mightBeRichText(text)) return text;
  return QStringLiteral("<p style='white-space:pre-wrap'>%1</p>").arg(text.toHtmlEscaped());
}

QString plural(std::int64_t count, const QString& one, const QString& many) {
  const QString noun = count == 1 ? one : (many.isEmpty() ? one + QStringLiteral("s") : many);
  return QStringLiteral("%1 %2").arg(count).arg(noun);
}

}  // namespace fusescope
