#include "ui/window/job_file_actions.h"

#include <QFileDialog>
#include <QFileInfo>
#include <QInputDialog>
#include <memory>

#include "compilers/probed/probed_kind.h"
#include "session/job_files.h"
#include "ui/dialogs/dialog_fields.h"
#include "ui/document/option_words.h"
#include "ui/document/qt_text.h"
#include "ui/window/main_window.h"
#include "ui/window/message_keys.h"

namespace fusescope {

namespace {

void showMessage(MainWindow& window, const QString& text) {
  window.messages().show(kJobKey, text, {});
}

/// Describes a job that asks another compiler about the open model.
JobDescription jobDescriptionOf(MainWindow& window, const ProbedKind& kind) {
  JobDescription description{.model = {},
                             .extents = window.document().inputs(),
                             .options = window.document().options(),
                             .inputs = window.runs().settings().inputs,
                             .questions = {.run = true, .time = true, .profile = true}};
  PlanOptions& options = description.options;
  const bool isItsOwn = options.compiler == kind.name() || options.compiler.starts_with(std::string(kind.name()) + "@");
  if (!isItsOwn) options.compilerOptions.clear();
  if (!kind.takesTarget(options.target)) options.target = kind.target();
  options.compiler = kind.name();
  options.support.reset();
  description.questions.threads = window.runs().settings().threads;
  description.questions.seconds = window.runs().settings().seconds;
  return description;
}

bool isOfOpenModel(MainWindow& window, const OpenedJob& job) {
  return window.document().model() != nullptr &&
         window.document().modelFile().identity() == job.description.model.identity();
}

/// Adds the result as another run.
void addResult(MainWindow& window, const OpenedJob& job) {
  if (window.document().inputs() != job.description.extents)
    return showMessage(
        window, QStringLiteral("✗ The job was packed for other extents of the inputs than the model is open with."));
  RunSettings settings = window.runs().settings();
  settings.inputs = job.description.inputs;
  window.runs().setSettings(settings);
  window.document().edit(QStringLiteral("Open the result of a job"), job.description.options);
  window.showDock(QStringLiteral("Runs"));
  if (const Compiler* compiler = findCompiler(job.description.options.compiler))
    window.controller().buildWith(*compiler);
}

/// Adds the result as soon as the compiler of the result has answered.
void addOnceAsked(MainWindow& window, const OpenedJob& job) {
  Compilers& compilers = window.controller().compilers();
  const std::string name = job.description.options.compiler;
  if (findCompiler(name) == nullptr)
    return showMessage(window,
                       QStringLiteral("✗ This program has no part for the compiler of the result, %1.").arg(qs(name)));
  compilers.ask(name);
  if (compilers.facts(name) != nullptr) return addResult(window, job);
  auto* waiting = new QObject(&window);
  // The result belongs to the network that is open now; if another one is opened, nothing is added.
  QObject::connect(&window.document(), &PlanDocument::modelChanged, waiting, &QObject::deleteLater);
  QObject::connect(&compilers, &Compilers::changed, waiting, [&window, &compilers, name, job, waiting] {
    if (isOfOpenModel(window, job) && compilers.facts(name) == nullptr) return;
    compilers.disconnect(waiting);
    waiting->deleteLater();
    if (isOfOpenModel(window, job)) addResult(window, job);
  });
}

void showResult(MainWindow& window, const OpenedJob& job) {
  if (isOfOpenModel(window, job)) return addOnceAsked(window, job);
  auto* waiting = new QObject(&window);
  PlanDocument& document = window.document();
  QObject::connect(&document, &PlanDocument::openFailed, waiting, &QObject::deleteLater);
  QObject::connect(&document, &PlanDocument::openingCancelled, waiting, &QObject::deleteLater);
  QObject::connect(
      &document, &PlanDocument::modelChanged, waiting,
      [&window, job, waiting] {
        window.document().disconnect(waiting);
        waiting->deleteLater();
        if (isOfOpenModel(window, job)) addOnceAsked(window, job);
      },
      Qt::QueuedConnection);
  if (!window.openFile(qs(job.description.model.path))) waiting->deleteLater();
}

}  // namespace

void writeJob(MainWindow& window) {
  QStringList titles;
  for (const ProbedKind* kind : allProbedKinds()) titles << qs(std::string(kind->title()));
  bool chosen = false;
  const QString title =
      QInputDialog::getItem(&window, QStringLiteral("Write a job file"),
                            QStringLiteral("The compiler that the job is for:"), titles, 0, false, &chosen);
  if (!chosen) return;
  const QString name = QFileInfo(window.document().path()).completeBaseName() + QStringLiteral("_job.pyz");
  const QString path =
      QFileDialog::getSaveFileName(&window, QStringLiteral("Write a job file"), besideModel(window.document(), name),
                                   QStringLiteral("Job files (*.pyz)"));
  if (path.isEmpty()) return;
  writeJob(window, std::string(allProbedKinds()[static_cast<std::size_t>(titles.indexOf(title))]->name()), path);
}

void writeJob(MainWindow& window, const std::string& compiler, const QString& path) {
  const ProbedKind* kind = findProbedKind(compiler);
  if (kind == nullptr || window.document().model() == nullptr) return;
  const auto work = [model = window.document().modelFile().path, description = jobDescriptionOf(window, *kind),
                     job = path.toStdString()](const StopToken& stop) {
    return packModel(model, description, job, stop);
  };
  window.jobs().run(QStringLiteral("write a job"), &window, work, [&window, path](const Result<PackedJob>& packed) {
    if (!packed.ok())
      return showMessage(window, QStringLiteral("✗ The job was not written: %1").arg(problemInWords(packed.error())));
    showMessage(window, QStringLiteral(
                            "The job is in %1. Run it where the compiler is: python3 %2; then open the result.zip that "
                            "it writes beside itself.")
                            .arg(path, QFileInfo(path).fileName()));
  });
}

void openResult(MainWindow& window) {
  const QString path = QFileDialog::getOpenFileName(&window, QStringLiteral("Open the result of a job"), QString(),
                                                    QStringLiteral("Results of jobs (*.zip);;All files (*)"));
  if (!path.isEmpty()) openResult(window, path);
}

void openResult(MainWindow& window, const QString& path) {
  const std::string open = window.document().model() ? window.document().modelFile().path : std::string();
  // If the network is not at its place any more, it may be the open one.
  const auto work = [open, result = path.toStdString()](const StopToken&) {
    auto job = openJob(result, {});
    if (job.ok() || open.empty()) return job;
    auto ofOpen = openJob(result, open);
    return ofOpen.ok() ? ofOpen : job;
  };
  window.jobs().run(QStringLiteral("open a result"), &window, work, [&window](const Result<OpenedJob>& job) {
    if (job.ok()) return showResult(window, job.value());
    showMessage(window, QStringLiteral("✗ The result was not opened: %1").arg(problemInWords(job.error())));
  });
}

}  // namespace fusescope
