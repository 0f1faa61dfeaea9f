#include "ui/dialogs/exporter_fields.h"

#include <QFileDialog>
#include <QHBoxLayout>
#include <QSignalBlocker>
#include <algorithm>

#include "ui/dialogs/dialog_fields.h"
#include "ui/document/qt_text.h"
#include "ui/widgets/common_widgets.h"

namespace fusescope {

ExporterFields::ExporterFields(QFormLayout& form, QObject* parent) : QObject(parent), m_form(form) {
  for (const Exporter* exporter : exporters())
    for (const ExporterOption* option : exporter->options) {
      const bool isThere = std::ranges::find(m_fields, option->name,
                                             [](const Field& field) { return field.option->name; }) != m_fields.end();
      if (isThere) continue;
      m_fields.push_back(makeField(*option));
      m_form.addRow(qs(option->title), m_fields.back().row);
    }
}

ExporterFields::Field ExporterFields::makeField(const ExporterOption& option) {
  if (!option.choices.empty()) {
    auto* choice = new QComboBox;
    for (std::size_t i = 0; i < option.choices.size(); ++i)
      choice->addItem(qs(i < option.choiceTitles.size() ? option.choiceTitles[i] : option.choices[i]),
                      qs(option.choices[i]));
    choice->setToolTip(qs(option.help));
    choice->setAccessibleName(qs(option.title));
    connect(choice, qOverload<int>(&QComboBox::currentIndexChanged), this, &ExporterFields::changed);
    return {&option, choice, choice, nullptr};
  }
  auto* line = new QLineEdit;
  line->setToolTip(qs(option.help));
  line->setAccessibleName(qs(option.title));
  connect(line, &QLineEdit::textChanged, this, &ExporterFields::changed);
  if (!option.isFile) return {&option, line, nullptr, line};
  line->setPlaceholderText(qs(option.help));
  auto* row = new QWidget;
  auto* browse = plainButton(QStringLiteral("Browse…"));
  auto* layout = new QHBoxLayout(row);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->addWidget(line, 1);
  layout->addWidget(browse);
  connect(browse, &QPushButton::clicked, line, [line, title = qs(option.title)] {
    const QString path = QFileDialog::getOpenFileName(line, title);
    if (!path.isEmpty()) line->setText(path);
  });
  return {&option, row, nullptr, line};
}

const ExporterFields::Field& ExporterFields::fieldOf(std::string_view option) const {
  return *std::ranges::find(m_fields, option, [](const Field& field) { return field.option->name; });
}

void ExporterFields::show(const Exporter& exporter, const ExporterValues& remembered, const Plan& plan) {
  for (const Field& field : m_fields) {
    const bool isShown = exporter.option(field.option->name) != nullptr;
    showRow(m_form, field.row, isShown);
    if (field.line == nullptr || field.line->isModified() || field.option->proposed == nullptr) continue;
    const QSignalBlocker quiet(field.line);
    const auto known = remembered.find(field.option->name);
    field.line->setText(qs(known != remembered.end() ? known->second : field.option->proposed(plan)));
  }
}

void ExporterFields::choose(const Exporter& exporter, const ExporterValues& remembered) {
  for (const Field& field : m_fields) {
    const auto known = remembered.find(field.option->name);
    if (field.choice == nullptr || known == remembered.end() || exporter.option(field.option->name) == nullptr)
      continue;
    const QSignalBlocker quiet(field.choice);
    field.choice->setCurrentIndex(std::max(0, field.choice->findData(qs(known->second))));
  }
}

ExporterValues ExporterFields::values(const Exporter& exporter) const {
  ExporterValues values;
  for (const Field& field : m_fields) {
    if (exporter.option(field.option->name) == nullptr) continue;
    const bool isUsual = field.choice != nullptr && field.choice->currentIndex() == 0;
    const QString value =
        field.choice != nullptr ? field.choice->currentData().toString() : field.line->text().trimmed();
    if (!isUsual && !value.isEmpty()) values.emplace(field.option->name, value.toStdString());
  }
  return values;
}

ExporterValues ExporterFields::chosen(const Exporter& exporter) const {
  ExporterValues chosen = values(exporter);
  for (const Field& field : m_fields)
    if (field.line != nullptr && field.option->proposed != nullptr && !field.line->isModified())
      chosen.erase(std::string(field.option->name));
  return chosen;
}

void ExporterFields::offerAll(const QString& why) {
  for (const Field& field : m_fields)
    if (field.choice != nullptr) offer(*field.choice, why);
}

}  // namespace fusescope
