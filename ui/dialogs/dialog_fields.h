#pragma once

#include <QLineEdit>
#include <QPushButton>
#include <QToolButton>
#include <QWidget>
#include <optional>

#include "session/worker_protocol.h"
#include "ui/docks/dock_context.h"
#include "ui/document/directive_edits.h"
#include "ui/widgets/option_fields.h"

class QComboBox;
class QFormLayout;

namespace fusescope {

// Parts that several dialogs use.

/// Opens a dialog that is deleted when it is closed. The session stays usable behind it.
template <class Dialog, class... Arguments>
Dialog* opened(Arguments&&... arguments) {
  auto* dialog = new Dialog(std::forward<Arguments>(arguments)...);
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  dialog->open();
  return dialog;
}

/// Returns the number in the field if it is 0 or more; nothing if the field is empty or contains something else.
std::optional<double> numberIn(const QLineEdit& field);
/// Returns the number with six digits; empty for no number.
QString numberText(const std::optional<double>& number);

/// Makes a button that does not become the dialog's default, so that Return keeps its meaning.
QPushButton* plainButton(const QString& text, const QString& tip = {});
/// Sets the object name by which the button is found, and returns the button.
QPushButton* named(QPushButton* button, const char* name);

/// Adds choices of precisions, each with its Precisions as data. Without ranges, those with int8 are disabled, and
/// their tool tip says why.
void addPrecisions(QComboBox& box, const std::vector<Precisions>& choices, bool ranges);

/// Rarely needed content, folded away below a line that opens it.
class Fold : public QWidget {
  Q_OBJECT

 public:
  Fold(const QString& title, QWidget* content, QWidget* parent = nullptr);
  QToolButton& header() { return *m_header; }
  void setOpen(bool open) { m_header->setChecked(open); }

 private:
  QToolButton* m_header;
};

/// Returns the path of a file with that name in the folder of the model, which a file chooser suggests.
QString besideModel(const PlanDocument& document, const QString& name);

/// Shows or hides a row with its label.
void showRow(QFormLayout& form, QWidget* field, bool shown);

/// Returns a request to the worker about the displayed plan, with the settings of the session.
WorkerRequest requestFor(const DockContext& context, WorkSettings settings);

}  // namespace fusescope
