#include "ui/widgets/option_fields.h"

#include <QDoubleSpinBox>
#include <QSpinBox>
#include <algorithm>
#include <cmath>
#include <limits>

#include "ui/document/qt_text.h"

namespace fusescope {

namespace {

constexpr double kGib = 1LL << 30;
// A field cannot hold infinity. The options are integers of 64 bits, so that this many bytes fit.
constexpr double kMostBytes = 1LL << 62;

}  // namespace

void describe(QWidget& field, const Option& option) {
  QStringList sentences;
  for (const QString& sentence : qs(option.help).split(QStringLiteral(". "))) {
    const bool isOfOptions =
        sentence.contains(QStringLiteral("--")) || sentence.contains(QStringLiteral("this option"));
    if (!isOfOptions) sentences << sentence;
  }
  const QString tip = sentences.join(QStringLiteral(". "));
  field.setToolTip(tip.endsWith(QLatin1Char('.')) || tip.isEmpty() ? tip : tip + QLatin1Char('.'));
}

void describe(QSpinBox& field, const Option& option, const QString& whenNone) {
  describe(static_cast<QWidget&>(field), option);
  const double least = whenNone.isEmpty() ? option.range.least : 0;
  constexpr double kLeast = std::numeric_limits<int>::lowest(), kMost = std::numeric_limits<int>::max();
  field.setRange(static_cast<int>(std::max(least, kLeast)), static_cast<int>(std::min(option.range.most, kMost)));
  field.setSpecialValueText(whenNone);
}

void describe(QDoubleSpinBox& field, const Option& option, const QString& whenNone) {
  describe(static_cast<QWidget&>(field), option);
  field.setRange(whenNone.isEmpty() ? option.range.least : 0, option.range.most);
  field.setSpecialValueText(whenNone);
}

void describeBytes(QDoubleSpinBox& field, const Option& option, int decimals) {
  describe(static_cast<QWidget&>(field), option);
  const double least = option.range.least / kGib;
  field.setDecimals(decimals);  // first, because a range is rounded to the decimals
  field.setRange(option.usual.empty() ? least : least - 1, std::min(option.range.most, kMostBytes) / kGib);
  field.setSuffix(QStringLiteral(" GiB"));
  if (option.usual.empty()) return;
  field.setSpecialValueText(qs(option.usual));
  field.setValue(field.minimum());
  QObject::connect(&field, qOverload<double>(&QDoubleSpinBox::valueChanged), &field, [&field, least](double value) {
    if (value < least) field.setValue(field.minimum());
  });
}

std::optional<std::int64_t> bytesIn(const QDoubleSpinBox& field) {
  const bool isGiven = field.specialValueText().isEmpty() || field.value() > field.minimum();
  return isGiven ? std::optional<std::int64_t>(std::llround(field.value() * kGib)) : std::nullopt;
}

void setBytes(QDoubleSpinBox& field, std::int64_t bytes) {
  field.setValue(static_cast<double>(bytes) / kGib);
}

}  // namespace fusescope
