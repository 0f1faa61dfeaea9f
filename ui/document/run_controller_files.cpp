// Runs that are read from files: our own engine files, and files about other engines.
#include <QFileInfo>

#include "frontends/tensorrt/layer_network.h"
#include "session/import_engine.h"
#include "session/open_model.h"
#include "ui/document/option_words.h"
#include "ui/document/qt_text.h"
#include "ui/document/run_controller.h"
#include "ui/jobs/job_runner.h"

namespace fusescope {

namespace {

/// Returns the files that were given in addition to the list of layers in `open`, from which the network on screen was
/// made.
Result<EngineFilePaths> filesOfLayers(EngineFilePaths files, const std::filesystem::path& open) {
  std::error_code none;
  if (!files.layers.empty() && files.layers != files.log && !std::filesystem::equivalent(files.layers, open, none))
    return Diagnostic{.message = "it lists the layers of another engine than the one that is open",
                      .where = {.file = files.layers.string()},
                      .help = "Open it by itself."};
  files.layers = open;
  return files;
}

}  // namespace

void RunController::addEngines(const QStringList& paths) {
  using Inspected = std::vector<Result<EngineFile>>;
  const auto work = [paths](const StopToken&) {
    Inspected inspected;
    for (const QString& path : paths) inspected.push_back(openEngineFile(path.toStdString()));
    return inspected;
  };
  // Each request has its own tag, so that files which are added later do not replace these.
  const QString tag = QStringLiteral("inspect engine %1").arg(paths.join(QLatin1Char('\n')));
  m_jobs.run(tag, this, work, [this, paths](const Inspected& inspected) {
    QStringList problems;
    for (std::size_t i = 0; i < inspected.size(); ++i) {
      if (inspected[i].ok())
        addEngine(paths[static_cast<int>(i)], inspected[i].value());
      else
        problems << problemText(inspected[i].error());
    }
    if (!problems.isEmpty()) filesFailed(problems.join(QLatin1Char('\n')));
  });
}

void RunController::addEngine(const QString& path, const EngineFile& info) {
  Run run = newRun();
  run.name = QFileInfo(path).fileName().toStdString();
  run.kind = RunKind::Engine;
  run.state = RunState::Timing;
  run.options = info.plan->options;
  run.extents = givenExtents(info.plan->inputSpecs);
  run.backend = info.backend;
  run.enginePath = path.toStdString();
  run.build = RunBuild{.bytes = QFileInfo(path).size()};
  queueTime(m_runs.add(std::move(run)));
  next();
}

/// This problem belongs to no run.
void RunController::filesFailed(const QString& problem) {
  m_problem = problem;
  emit filesRefused(problem);
  emit activityChanged();
}

void RunController::importEngine(const QStringList& paths) {
  EngineImport request{.inputs = m_document.inputs(), .atExtentsOfEngine = false};
  const bool isOfLayers = isOfEngineLayers(*m_document.model());
  if (!isOfLayers) request.model = m_document.model()->path;
  const std::string open = m_document.model()->path;
  const auto work = [paths, request, isOfLayers, open](const StopToken& stop) -> Result<Artifact> {
    std::vector<std::filesystem::path> files;
    for (const QString& path : paths) files.emplace_back(path.toStdString());
    EngineImport whole = request;
    whole.files = TRY(sortEngineFiles(files));
    if (isOfLayers) whole.files = TRY(filesOfLayers(std::move(whole.files), open));
    if (whole.files.layers.empty())
      return Diagnostic{
          .message = "none of these files lists the layers of an engine",
          .help = "trtexec writes them with --profilingVerbosity=detailed --exportLayerInfo=layers.json."};
    return fusescope::importEngine(whole, stop);
  };
  const std::string model = m_document.modelFile().identity();
  m_jobs.run(QStringLiteral("import engine"), this, work, [this, paths, model](const Result<Artifact>& imported) {
    if (!imported.ok()) return filesFailed(problemText(imported.error()));
    if (m_document.modelFile().identity() != model) return;  // another network has been opened meanwhile
    const Placement& placement = *imported.value().made->placement;
    if (placement.layers > 0 && placement.placed == 0)
      return filesFailed(
          QStringLiteral("None of the %1 layers in %2 could be placed: is this the network that the engine was "
                         "built from? Nothing was changed.")
              .arg(placement.layers)
              .arg(QFileInfo(paths.front()).fileName()));
    Run run = engineRun(imported.value());
    m_problem.clear();
    m_notice = QStringLiteral(
                   "%1 layers: %2 placed, %3 convert or move, %4 not placed. Read from files: nothing was run here.")
                   .arg(placement.layers)
                   .arg(placement.placed)
                   .arg(placement.conversions)
                   .arg(placement.unplaced.size());
    if (const Directives& own = m_document.directives(); !own.empty() && own != run.options.directives)
      m_notice +=
          own.size() == 1
              ? QStringLiteral(" Your directive is not of the engine: Undo brings it back.")
              : QStringLiteral(" Your %1 directives are not of the engine: Undo brings them back.").arg(own.size());
    m_document.edit(QStringLiteral("Open engine files"), run.options);
    addRead(std::move(run), paths.front());
  });
}

void RunController::addRead(Run run, const QString& path) {
  run.name = QFileInfo(path).fileName().toStdString();
  run.model = m_document.modelFile().identity();
  run.extents = m_document.inputs();
  m_runs.add(std::move(run));
  emit activityChanged();
}

}  // namespace fusescope
