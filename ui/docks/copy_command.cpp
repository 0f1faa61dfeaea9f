#include "ui/docks/copy_command.h"

#include <QApplication>
#include <QClipboard>
#include <QDir>
#include <QFile>
#include <QMainWindow>
#include <QStandardPaths>
#include <QStatusBar>
#include <QToolTip>

#include "session/exported_program_report.h"
#include "ui/document/build_step.h"
#include "ui/document/option_words.h"
#include "ui/document/qt_text.h"

namespace fusescope {

namespace {

constexpr int kSaidMs = 10'000;

/// Returns the folder for files that copied commands read. They are kept there, because a command may be pasted days
/// later.
std::filesystem::path commandFolder() {
  const QString data = QStandardPaths::writableLocation(QStandardPaths::GenericDataLocation);
  return QDir(data).filePath(QStringLiteral("fusescope/commands")).toStdString();
}

/// An engine contains its own options and extents.
WorkSource sourceOnScreen(const DockContext& context) {
  WorkSource source{.path = context.document.modelFile().path, .backend = context.runs.settings().backend};
  if (context.document.kind() == ArtifactKind::Engine) return source;
  source.inputs = context.document.inputs();
  source.options = context.document.options();
  return source;
}

WorkSource commandSourceOf(const DockContext& context, const Run& run) {
  if (run.kind == RunKind::Engine) return {.path = run.enginePath};
  return {
      .path = context.document.modelFile().path, .inputs = run.extents, .options = run.options, .backend = run.backend};
}

TimeSettings timingOf(const DockContext& context) {
  return {.seconds = context.runs.settings().seconds, .warmup = RunController::kWarmupSeconds, .perLayer = true};
}

ErrorsSettings errorsOf(const DockContext& context) {
  return {.against = context.runs.settings().errorsAgainst};
}

CompareSettings comparingOf(const DockContext& context) {
  return {.seconds = context.runs.settings().seconds};
}

/// Returns a request with the settings of the session and the given number of threads.
WorkerRequest commandRequestOn(const DockContext& context, WorkSettings work, WorkSource source, int threads) {
  const RunSettings& settings = context.runs.settings();
  WorkerRequest request;
  request.settings = std::move(work);
  request.source = std::move(source);
  request.inputs = settings.inputs;
  request.tolerance = settings.tolerance;
  request.threads = threads;
  return request;
}

/// Returns commands that build an engine file and time it, as far as the compiler of the source can do that.
Result<CommandLine> builtAndTimed(const WorkerRequest& timing) {
  const Compiler* compiler = findCompiler(timing.source.options.compiler);
  const auto can = [&](Ability ability) { return compiler != nullptr && compiler->whyNot(ability).empty(); };
  if (!can(Ability::Keep)) return commandFor(timing, commandFolder());
  WorkerRequest build = timing;
  build.settings = BuildSettings();
  CommandLine line = TRY(commandFor(build, commandFolder()));
  if (!can(Ability::Time)) return line;
  WorkerRequest time = timing;
  time.source = {.path = line.commands.front().back()};  // the file that the command writes
  CommandLine timed = TRY(commandFor(time, commandFolder()));
  timed.commands.front()[2] = time.source.path;  // the file is in the folder in which the commands are run
  line.then(std::move(timed));
  return line;
}

/// Checks that the results of a run can be made again, because its model is the open one.
Status checkOfThisModel(const DockContext& context, const Run& run) {
  if (run.kind == RunKind::Engine || run.model == context.document.modelFile().identity()) return Done{};
  return Diagnostic{.message = "the run was made of another model than the one that is open",
                    .help = "Open that model, and copy the command then."};
}

CommandWork failing(const Diagnostic& why) {
  return [why]() -> Result<CommandLine> { return why; };
}

/// Returns the engine file of a run if it still exists, otherwise the source from which it was built.
WorkSource comparedSource(const DockContext& context, const Run& run) {
  if (!run.enginePath.empty() && QFile::exists(qs(run.enginePath))) return {.path = run.enginePath};
  return commandSourceOf(context, run);
}

void sayNear(QWidget& near, const QString& text) {
  if (auto* window = qobject_cast<QMainWindow*>(near.window())) {
    window->statusBar()->showMessage(text, kSaidMs);
  } else {
    QToolTip::showText(near.mapToGlobal(QPoint(0, near.height())), text.toHtmlEscaped(), &near, {}, kSaidMs);
  }
}

}  // namespace

CommandWork planCommandOf(const DockContext& context) {
  if (!context.document.snapshot()) return {};
  return [source = sourceOnScreen(context)]() -> Result<CommandLine> { return commandToPlan(source, commandFolder()); };
}

CommandWork originalCommandOf(const DockContext& context) {
  if (!context.document.snapshot()) return {};
  return [source = sourceOnScreen(context)]() -> Result<CommandLine> {
    CommandLine line = commandToPlan(source, commandFolder());
    line.commands.back().emplace_back("--original");
    return line;
  };
}

CommandWork explainCommandOf(const DockContext& context, const std::string& node) {
  if (!context.document.snapshot()) return {};
  return [source = sourceOnScreen(context), node]() -> Result<CommandLine> {
    return commandToExplain(source, node, commandFolder());
  };
}

CommandWork buildCommandOf(const DockContext& context) {
  if (!context.document.snapshot()) return {};
  const int threads = context.runs.settings().threads;
  WorkSource source = sourceOnScreen(context);
  if (const Compiler* other = buildStep(context.document, context.controller).other)
    source.options.compiler = other->name();
  return [timing = commandRequestOn(context, timingOf(context), std::move(source), threads)] {
    return builtAndTimed(timing);
  };
}

CommandWork buildBothCommandOf(const DockContext& context) {
  if (context.controller.planIsBaseline() || !context.document.snapshot()) return buildCommandOf(context);
  const int threads = context.runs.settings().threads;
  const WorkerRequest errors = commandRequestOn(context, EvaluateSettings(), sourceOnScreen(context), threads);
  WorkerRequest compare = commandRequestOn(context, comparingOf(context), sourceOnScreen(context), threads);
  compare.other = compare.source;
  compare.source.options = {.compiler = compare.other.options.compiler, .target = compare.other.options.target};
  return [errors, compare]() -> Result<CommandLine> {
    CommandLine line = TRY(commandFor(errors, commandFolder()));
    return line.then(TRY(commandFor(compare, commandFolder())));
  };
}

CommandWork importCommandOf(const DockContext& context) {
  if (!context.document.model() || !isExportedProgram(*context.document.model())) return {};
  const QString path = QFileInfo(context.document.path()).absoluteFilePath();
  return [path = path.toStdString()]() -> Result<CommandLine> {
    return CommandLine{.commands = {{"fusescope", "import", path}}, .files = {}};
  };
}

CommandWork runCommandOf(const DockContext& context, const Run& run) {
  if (run.comparison)
    return compareCommandOf(context, context.runs.find(run.comparison->a), context.runs.find(run.comparison->b));
  if (const Status own = checkOfThisModel(context, run); !own.ok()) return failing(own.error());
  const WorkerRequest timing = commandRequestOn(context, timingOf(context), commandSourceOf(context, run), run.threads);
  if (run.kind == RunKind::Engine) return requestCommand(timing);
  return [timing] { return builtAndTimed(timing); };
}

CommandWork evaluateCommandOf(const DockContext& context) {
  const Run* run = context.runs.shown();
  if (run == nullptr) return {};
  if (const Status own = checkOfThisModel(context, *run); !own.ok()) return failing(own.error());
  return requestCommand(
      commandRequestOn(context, EvaluateSettings(), commandSourceOf(context, *run), context.runs.settings().threads));
}

CommandWork errorsCommandOf(const DockContext& context) {
  const Run* run = context.runs.shown();
  const bool isOfRun = run != nullptr && context.runs.ofThisPlan(*run);
  if (!isOfRun && !context.document.snapshot()) return {};
  if (isOfRun)
    if (const Status own = checkOfThisModel(context, *run); !own.ok()) return failing(own.error());
  const WorkSource source = isOfRun ? commandSourceOf(context, *run) : sourceOnScreen(context);
  return requestCommand(commandRequestOn(context, errorsOf(context), source, context.runs.settings().threads));
}

CommandWork specialiseCommandOf(const DockContext& context) {
  const Run* run = context.runs.shown();
  if (run == nullptr) return {};
  if (const Status own = checkOfThisModel(context, *run); !own.ok()) return failing(own.error());
  TimeSettings timing = timingOf(context);
  timing.perLayer = false;
  timing.specialise = true;
  return requestCommand(commandRequestOn(context, timing, commandSourceOf(context, *run), run->threads));
}

CommandWork compareCommandOf(const DockContext& context, const Run* a, const Run* b) {
  if (a == nullptr || b == nullptr) return {};
  for (const Run* run : {a, b})
    if (const Status own = checkOfThisModel(context, *run); !own.ok()) return failing(own.error());
  WorkerRequest request =
      commandRequestOn(context, comparingOf(context), comparedSource(context, *a), context.runs.settings().threads);
  request.other = comparedSource(context, *b);
  return requestCommand(request);
}

CommandWork diffCommandOf(const DockContext& context) {
  const auto compared = context.fileDiff.compared();
  if (compared == nullptr) return {};
  WorkSource file{.path = compared->file.path};
  // A network is planned for this comparison; a file that contains a plan is used unchanged.
  if (compared->file.kind == ArtifactKind::Model && compared->file.session == nullptr)
    file.options = compared->file.plan->options;
  return [file, screen = sourceOnScreen(context)] { return commandToDiff(file, screen, commandFolder()); };
}

CommandWork requestCommand(const WorkerRequest& request, const std::vector<std::string>& more) {
  return [request, more] { return commandFor(request, commandFolder(), more); };
}

void copyCommand(const DockContext& context, QWidget& near, const CommandWork& work) {
  if (!work)
    return sayNear(near, QStringLiteral("There is nothing yet that a command could do: open a model, or build."));
  const auto make = [work](const StopToken&) -> Result<CommandLine> {
    CommandLine line = TRY(work());
    TRY(writeFiles(line));
    return line;
  };
  context.jobs.run(QStringLiteral("copy command"), &near, make, [&near](const Result<CommandLine>& line) {
    if (!line.ok()) return sayNear(near, QStringLiteral("✗ No command was copied: ") + problemInWords(line.error()));
    const QString text = qs(line.value().text());
    QApplication::clipboard()->setText(text);
    QString said = QStringLiteral("Copied: ") + text;
    if (!line.value().files.empty())
      said = QStringLiteral("Copied, with %1 in %2: %3")
                 .arg(plural(static_cast<std::int64_t>(line.value().files.size()), QStringLiteral("file")),
                      qs(commandFolder().string()), text);
    sayNear(near, said);
  });
}

QPushButton* copyCommandButton(const DockContext& context, const std::function<CommandWork()>& work) {
  auto* button = new QPushButton(QStringLiteral("Copy as command"));
  button->setAutoDefault(false);
  button->setObjectName(QStringLiteral("copyCommand"));
  button->setToolTip(QStringLiteral("A shell command with which fusescope does the same"));
  QObject::connect(button, &QPushButton::clicked, button,
                   [context, button, work] { copyCommand(context, *button, work()); });
  return button;
}

}  // namespace fusescope
