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
