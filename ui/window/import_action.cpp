#include "ui/window/import_action.h"

#include <QFileInfo>

#include "session/exported_program_report.h"
#include "session/inputs/load_samples.h"
#include "session/inputs/sample_source.h"
#include "session/inputs/samples.h"
#include "ui/dialogs/dialog_fields.h"
#include "ui/document/option_words.h"
#include "ui/document/qt_text.h"
#include "ui/window/main_window.h"
#include "ui/window/message_keys.h"

namespace fusescope {

namespace {

const QString kImportTag = QStringLiteral("import");      ///< the tag of the job
const QString kExamplesTag = QStringLiteral("examples");  ///< the tag of another job

void sayOfProgram(MainWindow& window, const QString& text, const QList<MessageBar::Action>& actions) {
  window.messages().show(kProgramKey, text, actions);
  window.actions().refresh();  // whether it can be made runnable has changed
}

/// Opens the network that was made from the program. Runs of it begin with the program's examples.
void openMade(MainWindow& window) {
  window.messages().close(kProgramKey);
  const auto once = std::make_shared<QMetaObject::Connection>();
  *once = QObject::connect(&window.document(), &PlanDocument::modelChanged, &window, [&window, once] {
    QObject::disconnect(*once);
    takeExampleInputs(window);
  });
  window.document().reload();
}

void notMade(MainWindow& window, const Diagnostic& error) {
  sayOfProgram(window, QStringLiteral("✗ The program was not made runnable: %1").arg(problemInWords(error)),
               {{QStringLiteral("Try again"), [&window] { makeRunnable(window); }},
                {QStringLiteral("Compilers…"), [&window] { window.showCompilers(); }}});
}

}  // namespace

QString makeRunnableRefusal(MainWindow& window) {
  const auto model = window.document().model();
  if (!model) return QStringLiteral("Open a model first.");
  if (!isExportedProgram(*model))
    return QStringLiteral("This is not an exported program (.pt2), or it is runnable already.");
  if (window.jobs().busy(kImportTag)) return QStringLiteral("It is being made runnable.");
  return {};
}

void makeRunnable(MainWindow& window) {
  if (!makeRunnableRefusal(window).isEmpty()) return;
  const QString path = window.document().path();
  window.jobs().run(
      kImportTag, &window, [file = path.toStdString()](const StopToken& stop) { return makeNetwork(file, {}, stop); },
      [&window, path](const Result<NetworkOfProgram>& made) {
        if (!made.ok()) return notMade(window, made.error());
        openMade(window);
      });
  sayOfProgram(
      window, QStringLiteral("torch makes a network of %1, which takes some seconds …").arg(QFileInfo(path).fileName()),
      {{QStringLiteral("Cancel"), [&window] { cancelMakingRunnable(window); }}});
}

void cancelMakingRunnable(MainWindow& window) {
  forgetProgram(window);
  offerToMakeRunnable(window);
}

void forgetProgram(MainWindow& window) {
  window.jobs().cancel(kImportTag);
  window.jobs().cancel(kExamplesTag);
  window.messages().close(kProgramKey);
  window.actions().refresh();
}

void offerToMakeRunnable(MainWindow& window) {
  if (!makeRunnableRefusal(window).isEmpty()) return;
  sayOfProgram(window,
               QStringLiteral("%1 consists of PyTorch's own operators: it can be displayed, planned and pinned. A "
                              "torch on this machine can make a network of it that can be built and run.")
                   .arg(QFileInfo(window.document().path()).fileName()),
               {{QStringLiteral("Make it runnable"), [&window] { makeRunnable(window); }}});
}

void takeExampleInputs(MainWindow& window) {
  const auto snapshot = window.document().snapshot();
  if (!snapshot || !window.runs().settings().inputs.empty()) return;
  window.jobs().run(
      kExamplesTag, &window,
      [plan = snapshot->plan](const StopToken&) {
        std::string whyNot;  // ignored, because it was reported when the program was opened
        return orCarried({}, *plan, whyNot);
      },
      [&window](const SampleSource& examples) {
        if (!examples.empty() && window.runs().settings().inputs.empty()) window.setInputs(examples);
      });
}

}  // namespace fusescope
