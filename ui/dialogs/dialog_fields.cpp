#include "ui/dialogs/dialog_fields.h"

#include <QComboBox>
#include <QDir>
#include <QDoubleSpinBox>
#include <QFileInfo>
#include <QFormLayout>
#include <QStandardItemModel>
#include <QVBoxLayout>
#include <algorithm>
#include <cmath>
#include <limits>

#include "session/inputs/sample_source.h"
#include "ui/document/qt_text.h"
#include "ui/widgets/common_widgets.h"

namespace fusescope {

namespace {

constexpr double kGib = 1LL << 30;
// A field cannot hold infinity. The options are integers of 64 bits, so that this many bytes fit.
constexpr double kMostBytes = 1LL << 62;

}  // namespace

void addPrecisions(QComboBox& box, const std::vector<Precisions>& choices, bool ranges) {
  for (const Precisions& choice : choices) {
    box.addItem(precisionsText(choice), QVariant::fromValue(choice));
    if (ranges || std::ranges::find(choice, DataType::I8) == choice.end()) continue;
    const int row = box.count() - 1;
    static_cast<QStandardItemModel*>(box.model())->item(row)->setEnabled(false);
    box.setItemData(row, QStringLiteral("int8 needs ranges: Build menu, Calibrate…"), Qt::ToolTipRole);
  }
}

std::optional<double> numberIn(const QLineEdit& field) {
  bool number = false;
  const double value = field.text().trimmed().toDouble(&number);
  return number && std::isfinite(value) && value >= 0 ? std::optional(value) : std::nullopt;
}

QString numberText(const std::optional<double>& number) {
  return number ? QString::number(*number, 'g', 6) : QString();
}

QPushButton* plainButton(const QString& text, const QString& tip) {
  auto* made = new QPushButton(text);
  made->setAutoDefault(false);
  made->setToolTip(tip);
  return made;
}

QPushButton* named(QPushButton* button, const char* name) {
  button->setObjectName(QString::fromLatin1(name));
  return button;
}

Fold::Fold(const QString& title, QWidget* content, QWidget* parent) : QWidget(parent), m_header(new QToolButton(this)) {
  m_header->setText(title);
  m_header->setCheckable(true);
  m_header->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
  m_header->setArrowType(Qt::RightArrow);
  content->hide();
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->addWidget(m_header, 0, Qt::AlignLeft);
  layout->addWidget(content);
  connect(m_header, &QToolButton::toggled, content, [this, content](bool open) {
    m_header->setArrowType(open ? Qt::DownArrow : Qt::RightArrow);
    content->setVisible(open);
  });
}

QString besideModel(const PlanDocument& document, const QString& name) {
  return QFileInfo(document.path()).dir().filePath(name);
}

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

void showRow(QFormLayout& form, QWidget* field, bool shown) {
  if (QWidget* label = form.labelForField(field)) label->setVisible(shown);
  field->setVisible(shown);
}

WorkerRequest requestFor(const DockContext& context, WorkSettings settings) {
  const RunSettings& session = context.runs.settings();
  WorkerRequest request;
  request.settings = std::move(settings);
  request.source.path = context.document.modelFile().path;
  request.source.inputs = context.document.inputs();
  request.source.options = context.document.options();
  request.source.backend = session.backend;
  request.inputs = session.inputs;
  request.tolerance = session.tolerance;
  request.threads = session.threads;
  return request;
}

}  // namespace fusescope
