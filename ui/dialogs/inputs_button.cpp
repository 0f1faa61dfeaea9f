#include "ui/dialogs/inputs_button.h"

#include "ui/dialogs/dialog_fields.h"
#include "ui/dialogs/inputs_dialog.h"
#include "ui/document/qt_text.h"
#include "ui/widgets/common_widgets.h"

namespace fusescope {

InputsButton::InputsButton(const DockContext& context, QWidget* parent) : QPushButton(parent), m_context(context) {
  setAutoDefault(false);
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
  connect(this, &QPushButton::clicked, this, [this] { opened<InputsDialog>(m_context, window()); });
  connect(&context.runs, &Runs::settingsChanged, this, &InputsButton::renew);
  renew();
}

void InputsButton::renew() {
  const SampleSource& inputs = m_context.runs.settings().inputs;
  setText((inputs.empty() ? QStringLiteral("⚠ ") : QString()) + captionText(qs(inWords(inputs))) + QStringLiteral("…"));
  const QString tip = inputs.empty()
                          ? QStringLiteral("No inputs were given: every number that is made with random inputs says so")
                          : QStringLiteral("Inputs of the session");
  offer(*this, isEnabledTo(parentWidget()) ? QString() : toolTip(), tip);
}

}  // namespace fusescope
