#include "ui/models/sample_contents.h"

#include <algorithm>

#include "session/build_and_run.h"
#include "ui/document/qt_text.h"

namespace fusescope {
namespace {

bool hasNumbers(const Tensor& tensor) {
  const DataType type = tensor.type();
  return tensor.container() == Container::None && tensor.hasData() && tensor.count() > 0 &&
         (isFloat(type) || isInteger(type) || type == DataType::Bool);
}

QString numberText(double number) {
  return QString::number(number, 'g', 4);
}

/// Returns a cell such as "−2.1 … 2.6", and how many elements are NaN.
Cell rangeCell(const Tensor& tensor) {
  if (!hasNumbers(tensor)) return {.text = QStringLiteral("no numbers"), .tone = Tone::Dim};
  const TensorSummary summary = summaryOf(tensor);
  QString text = rangeText(numberText(summary.min), numberText(summary.max));
  if (summary.notNumbers > 0) text += QStringLiteral(", %1 NaN").arg(summary.notNumbers);
  return {.text = text, .tip = QStringLiteral("mean %1").arg(numberText(summary.mean)), .tone = Tone::Dim};
}

}  // namespace

TableContent samplesContent(const Samples& samples) {
  TableContent content{{"Sample", "Input", "Type", "Extents", "Values"}, {}, {}};
  for (std::size_t i = 0; i < samples.list.size() && i < kMostListedSamples; ++i) {
    const Sample& sample = samples.list[i];
    for (const auto& [name, tensor] : sample.inputs) {
      content.rows.push_back({qs(name),
                              {{.text = qs(sample.name), .tone = samples.random ? Tone::Warning : Tone::Plain},
                               {.text = qs(name)},
                               {.text = qs(tensor.type())},
                               {.text = qs(toText(tensor.dims()))},
                               rangeCell(tensor)}});
    }
  }
  return content;
}

QString samplesText(const Samples& samples) {
  const QString inputs = plural(static_cast<std::int64_t>(samples.first().size()), QStringLiteral("input"));
  const auto count = static_cast<std::int64_t>(samples.list.size());
  const QString what = samples.random ? QStringLiteral("random sample") : QStringLiteral("sample");
  QString text = QStringLiteral("%1 of %2").arg(plural(count, what), inputs);
  if (samples.list.size() > kMostListedSamples)
    text += QStringLiteral("; the first %1 are listed").arg(kMostListedSamples);
  return text;
}

}  // namespace fusescope
