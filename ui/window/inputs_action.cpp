#include "ui/window/inputs_action.h"

#include <QFileDialog>
#include <QFileInfo>
#include <algorithm>

#include "session/exported_program_report.h"
#include "session/inputs/network_inputs.h"
#include "ui/dialogs/dialog_fields.h"
#include "ui/document/option_words.h"
#include "ui/document/qt_text.h"
#include "ui/window/main_window.h"

namespace fusescope {

namespace {

const QString kInputsTag = QStringLiteral("save inputs");  ///< the tag of the job and of its message

QString endingOf(const Model& model) {
  return isOfExportedProgram(model) ? QStringLiteral(".pt2") : QStringLiteral(".onnx");
}

}  // namespace

QString saveInputsRefusal(MainWindow& window) {
  const auto model = window.document().model();
  if (!model) return QStringLiteral("Open a model first.");
  if (window.document().kind() == ArtifactKind::Engine)
    return QStringLiteral("An engine is made for the inputs that it has: open its network.");
  if (model->format != "onnx" && !isExportedProgram(*model))
    return QStringLiteral("Inputs are written into networks in ONNX and into exported programs of PyTorch.");
  const bool isKnown =
      std::ranges::any_of(model->inputSpecs, [](const InputSpec& spec) { return spec.source != "assumed"; });
  if (!isKnown) return QStringLiteral("The extents of all inputs are only assumed: open the model with others first.");
  if (window.jobs().busy(kInputsTag)) return QStringLiteral("Inputs are being written.");
  return {};
}

void saveInputs(MainWindow& window) {
  const QString ending = endingOf(*window.document().model());
  QString path = QFileDialog::getSaveFileName(
      &window, QStringLiteral("Save the inputs into a file"),
      besideModel(window.document(),
                  QFileInfo(window.document().path()).completeBaseName() + QStringLiteral("_inputs") + ending),
      QStringLiteral("Networks (*%1)").arg(ending));
  if (path.isEmpty()) return;
  if (QFileInfo(path).suffix().isEmpty()) {
    path += ending;  // the file dialog asked about the name without the suffix
    if (QFileInfo::exists(path))
      return window.messages().show(
          kInputsTag,
          QStringLiteral("✗ The inputs were not written: %1 is there already. Choose it by its whole name.")
              .arg(QFileInfo(path).fileName()),
          {});
  }
  saveInputs(window, path);
}

void saveInputs(MainWindow& window, const QString& path) {
  const auto say = [&window](const QString& text, const QList<MessageBar::Action>& actions = {}) {
    window.messages().show(kInputsTag, text, actions);
  };
  if (const QString refusal = saveInputsRefusal(window); !refusal.isEmpty())
    return say(QStringLiteral("✗ The inputs were not written: %1").arg(refusal));
  const auto work = [model = window.document().model(), file = path.toStdString()](const StopToken& stop) {
    return writeInputs(networkInputs(model), std::nullopt, file, stop);
  };
  window.jobs().run(kInputsTag, &window, work, [&window, path, say](const Status& written) {
    if (!written.ok())
      return say(QStringLiteral("✗ The inputs were not written: %1").arg(problemInWords(written.error())));
    say(QStringLiteral("The network with its inputs is in %1: no command asks for them again.").arg(path),
        {{QStringLiteral("Open it"), [&window, path] { window.openFile(path); }}});
  });
}

}  // namespace fusescope
