#pragma once

#include <QLineEdit>
#include <QPushButton>
#include <QToolButton>
#include <QWidget>
#include <optional>

#include "session/worker_protocol.h"
#include "ui/docks/dock_context.h"
#include "ui/document/directive_edits.h"

class QComboBox;
class QDoubleSpinBox;
class QFormLayout;
class QSpinBox;

namespace fusescope {

// What several dialogs consist of.

/// A dialog that is open, and goes when it is closed. The session goes on behind it.
template <class Dialog, class... Arguments>
Dialog* opened(Arguments&&... arguments) {
  auto* dialog = new Dialog(std::forward<Arguments>(arguments)...);
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  dialog->open();
  return dialog;
}

/// A number of 0 or more; nothing where the field is empty or holds none.
std::optional<double> numberIn(const QLineEdit& field);
/// Six digits; empty for none.
QString numberText(const std::optional<double>& number);

/// A button that is no dialog's default: Return goes on doing what it did.
QPushButton* plainButton(const QString& text, const QString& tip = {});
/// Gives the button the object name by which it is found, and returns it.
QPushButton* named(QPushButton* button, const char* name);

/// Adds choices of precisions, each with its Precisions as data. Without ranges those with int8 cannot be chosen, and
/// their tool tip says why.
void addPrecisions(QComboBox& box, const std::vector<Precisions>& choices, bool ranges);

/// Says what the session's inputs are, and opens the dialog for them.
class InputsButton : public QPushButton {
  Q_OBJECT

 public:
  explicit InputsButton(const DockContext& context, QWidget* parent = nullptr);

 private:
  void renew();
  DockContext m_context;
};

/// What few need, folded away below a line that opens it.
class Fold : public QWidget {
  Q_OBJECT

 public:
  Fold(const QString& title, QWidget* content, QWidget* parent = nullptr);
  QToolButton& header() { return *m_header; }
  void setOpen(bool open) { m_header->setChecked(open); }

 private:
  QToolButton* m_header;
};

/// The path of a file of that name in the folder of the model: what a chooser of a file to be written begins with.
QString besideModel(const PlanDocument& document, const QString& name);

// What a field says of itself is what the option of the command line says: its range, and the sentences of its help
// that are not about other options as the tool tip.
void describe(QWidget& field, const Option& option);  ///< the tool tip alone
/// 0 stands for an option that is not given, which `whenNone` puts in words.
void describe(QSpinBox& field, const Option& option, const QString& whenNone = {});
void describe(QDoubleSpinBox& field, const Option& option, const QString& whenNone = {});

/// Shows or hides a row with its label.
void showRow(QFormLayout& form, QWidget* field, bool shown);

/// A piece of work of the worker on the plan on screen, with the settings of the session.
WorkerRequest requestFor(const DockContext& context, WorkSettings settings);

}  // namespace fusescope
