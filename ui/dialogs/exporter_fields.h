#pragma once

#include <QComboBox>
#include <QFormLayout>
#include <QLineEdit>
#include <QObject>
#include <vector>

#include "interchange/exports.h"

namespace fusescope {

/// The fields for options that only some export formats have (ExporterOption), as rows of a form: a chooser, a line, or
/// a line with a button that chooses a file. Only the fields of the chosen format are visible.
class ExporterFields : public QObject {
  Q_OBJECT

 public:
  /// Adds a row to `form` for each option of any format.
  explicit ExporterFields(QFormLayout& form, QObject* parent = nullptr);

  /// Shows the fields of `exporter`. A line that the user has not written in gets the value in `remembered`, else the
  /// value that suits the plan, if the option proposes one.
  void show(const Exporter& exporter, const ExporterValues& remembered, const Plan& plan);
  /// Sets the choosers of `exporter` to the values in `remembered`.
  void choose(const Exporter& exporter, const ExporterValues& remembered);
  /// Returns the values of the options of `exporter`; a choice that is the default and an empty line are left out.
  ExporterValues values(const Exporter& exporter) const;
  /// Returns values() without the proposed ones that the user has not changed.
  ExporterValues chosen(const Exporter& exporter) const;
  /// Enables the fields, or disables them for the reason `why`.
  void offerAll(const QString& why);

  /// Returns the field of the option with this name, which must be of this kind.
  QComboBox& choice(std::string_view option) const { return *fieldOf(option).choice; }
  QLineEdit& line(std::string_view option) const { return *fieldOf(option).line; }

 signals:
  void changed();  ///< the user has changed a field

 private:
  /// A field, in which either `choice` or `line` is null. `row` is its row in the form.
  struct Field {
    const ExporterOption* option;
    QWidget* row;
    QComboBox* choice;
    QLineEdit* line;
  };
  const Field& fieldOf(std::string_view option) const;
  Field makeField(const ExporterOption& option);

  QFormLayout& m_form;
  std::vector<Field> m_fields;
};

}  // namespace fusescope
