// Opening and dropping files: which kind each of them is, and what is done with it.
#include <QFileDialog>
#include <QFileInfo>

#include "frontends/tensorrt/layer_network.h"
#include "frontends/torch/script_files.h"
#include "interchange/recipes/read_recipe.h"
#include "planning/directives_file.h"
#include "session/import_engine.h"
#include "session/inputs/sample_source.h"
#include "session/options_json.h"
#include "ui/dialogs/calibrate_dialog.h"
#include "ui/dialogs/dialog_fields.h"
#include "ui/document/option_words.h"
#include "ui/document/qt_text.h"
#include "ui/window/import_action.h"
#include "ui/window/job_file_actions.h"
#include "ui/window/main_window.h"
#include "ui/window/message_keys.h"

namespace fusescope {

namespace {

const QString kKindsTag = QStringLiteral("file kinds");
const QString kDirectivesTag = QStringLiteral("open directives");

/// The contents of a file of directives, in our format or in that of another tool.
struct DirectivesOrRecipe {
  std::optional<DirectivesFile> directives;
  std::optional<Result<Recipe>> recipe;
};

DirectivesOrRecipe readDirectivesOrRecipe(const std::string& path, const Model& model) {
  if (auto read = readDirectivesFile(path); read.ok()) return {std::move(read).value(), {}};
  return {{}, readRecipeFile(path, model)};
}

/// Returns why a file that needs a model cannot be used if none is open. A script may be a recipe, or a program that
/// makes a network.
QString needsModel(const FoundFile& file) {
  const QString why = QStringLiteral("%1 is about a model, and none is open.").arg(QFileInfo(file.path).fileName());
  const auto script = whyScriptIsNotOpened(file.path.toStdString());
  return script ? why + QLatin1Char(' ') + qs(script->help) : why;
}

}  // namespace

void MainWindow::modelOpened() {
  m_activity->clear();
  m_search->clear();
  m_views->setCurrentWidget(m_canvas);
  showRoom();
  refreshTitle();
  m_canvas->setFocus();
  offerToMakeRunnable(*this);
  // The other dropped files are used as soon as the session of this model has begun.
  const auto dropped = std::exchange(m_dropped, {});
  if (!dropped.files.empty() && (dropped.with == m_document->path() || dropped.with == m_session->path()))
    QMetaObject::invokeMethod(
        this, [this, files = dropped.files] { takeDropped(files); }, Qt::QueuedConnection);
}

bool MainWindow::openFile(const QString& path) {
  m_jobs->cancel(kKindsTag);
  if (const auto kind = kindByName(path)) return openFound({path, *kind});
  m_jobs->run(
      kKindsTag, this, [path](const StopToken&) { return fileKindOf(path); },
      [this, path](FileKind kind) {
        openFound({path, kind});
      });
  return true;
}

bool MainWindow::openFound(const FoundFile& file) {
  if (file.kind == FileKind::JobResult) {
    openResult(*this, file.path);
    return true;
  }
  if (m_document->model() && !isOtherNetwork(file) && openForModel(file)) return true;
  return openInPlace(file, {});
}

bool MainWindow::isOtherNetwork(const FoundFile& file) const {
  return file.kind == FileKind::EngineLayers && m_document->model() && isOfEngineLayers(*m_document->model()) &&
         QFileInfo(file.path) != QFileInfo(m_document->path());
}

/// Uses a file that is for the open model. Returns false if it is not, or if a separate dialog opens such files.
bool MainWindow::openForModel(const FoundFile& file) {
  if (file.kind != FileKind::Ranges && isForModel(file.kind)) {
    takeForModel({file});
    return true;
  }
  return false;
}

bool MainWindow::openInPlace(const FoundFile& file, std::vector<FoundFile> others) {
  const bool again = m_document->model() && QFileInfo(file.path) == QFileInfo(m_document->path());
  if (!again && !mayLeave()) return false;
  // A list of an engine's layers is opened as a network, and it also describes what the engine made.
  if (isOfEngine(file.kind) && !again) others.push_back(file);
  m_dropped = {file.path, std::move(others)};
  m_session->open(file.path);
  return true;
}

void MainWindow::dropFiles(const QStringList& paths) {
  m_jobs->cancel(kKindsTag);
  std::vector<FoundFile> found;
  for (const QString& path : paths)
    if (const auto kind = kindByName(path)) found.push_back({path, *kind});
  if (int(found.size()) == paths.size()) return takeDropped(found);
  const auto find = [paths](const StopToken&) {
    std::vector<FoundFile> files;
    for (const QString& path : paths) files.push_back({path, fileKindOf(path)});
    return files;
  };
  m_jobs->run(kKindsTag, this, find, [this](const std::vector<FoundFile>& files) { takeDropped(files); });
}

void MainWindow::takeDropped(const std::vector<FoundFile>& files) {
  const bool open = m_document->model() != nullptr;
  const bool areForModel = std::ranges::all_of(files, isForModel, &FoundFile::kind);
  // The model is opened before the files that are for it, regardless of their order.
  const auto takesPlace = [&](const FoundFile& file) {
    if (isForModel(file.kind)) {
      // If the network from which an engine was built is not given, the engine's layers are opened as a network.
      const bool isNetwork = file.kind == FileKind::EngineLayers || file.kind == FileKind::EngineLog;
      return isOtherNetwork(file) || (!open && areForModel && isNetwork);
    }
    return !open || file.kind != FileKind::Engine;
  };
  const auto first = std::ranges::find_if(files, takesPlace);
  if (first == files.end() && !open)
    return showProblem(QStringLiteral("Open a model first"), needsModel(files.front()));
  if (first == files.end()) return takeForModel(files);
  std::vector<FoundFile> others = files;
  others.erase(others.begin() + (first - files.begin()));
  if (first->kind != FileKind::JobResult) return void(openInPlace(*first, others));
  openResult(*this, first->path);
  if (!others.empty())
    m_messages->show(kDroppedKey,
                     QStringLiteral("%1 was opened alone. What was dropped with it may be of another network: drop it "
                                    "again once the network of the result is open.")
                         .arg(QFileInfo(first->path).fileName()),
                     {});
}

void MainWindow::takeForModel(const std::vector<FoundFile>& files) {
  QStringList engines, ofEngine;
  SampleSource inputs;  // samples that are dropped together are used in one run
  for (const FoundFile& file : files) {
    if (file.kind == FileKind::Engine) {
      engines << file.path;
    } else if (file.kind == FileKind::Inputs) {
      inputs.paths.push_back(file.path.toStdString());
    } else if (file.kind == FileKind::Ranges) {
      opened<CalibrateDialog>(context(), *m_worker, this)->openFile(file.path);
    } else if (isOfEngine(file.kind)) {
      ofEngine << file.path;  // files that are dropped together describe one engine
    } else {
      openDirectives(file.path);
    }
  }
  if (!ofEngine.isEmpty()) m_controller->importEngine(ofEngine);
  if (!inputs.empty()) setInputs(inputs);
  if (!ofEngine.isEmpty() || !inputs.empty()) showDock(QStringLiteral("Runs"));
  if (!engines.isEmpty()) addEngines(engines);
}

void MainWindow::addEngines(const QStringList& paths) {
  QStringList engines = paths;
  // If the open file is an engine, it is one of those to compare.
  const auto& runs = m_runs->all();
  const std::string own = m_document->path().toStdString();
  const bool known = std::any_of(runs.begin(), runs.end(), [&](const Run& run) { return run.enginePath == own; });
  if (m_document->kind() == ArtifactKind::Engine && m_document->model() && !known) engines.prepend(m_document->path());
  m_controller->addEngines(engines);
  showDock(QStringLiteral("Runs"));
}

void MainWindow::openEngineFiles() {
  const QStringList paths = QFileDialog::getOpenFileNames(
      this, QStringLiteral("Files of a TensorRT engine: layers, profile, times, log of the build"), QString(),
      QStringLiteral("Files of an engine (*.json *.log *.txt);;All files (*)"));
  if (!paths.isEmpty()) dropFiles(paths);
}

void MainWindow::addEngines() {
  const QStringList paths = QFileDialog::getOpenFileNames(this, QStringLiteral("Engines to compare"), QString(),
                                                          QStringLiteral("Engines (*.fse);;All files (*)"));
  if (!paths.isEmpty()) addEngines(paths);
}

void MainWindow::openDirectives() {
  const QString path = QFileDialog::getOpenFileName(
      this, QStringLiteral("Open directives or a recipe"), QString(),
      QStringLiteral("Directives and recipes (*.json *.sh *.txt *.py *.cache);;All files (*)"));
  if (!path.isEmpty()) openDirectives(path);
}

/// The directives are read, and searched in the network, on another thread.
void MainWindow::openDirectives(const QString& path) {
  const auto read = [file = path.toStdString(), model = m_document->model()](const StopToken&) {
    return readDirectivesOrRecipe(file, *model);
  };
  m_jobs->run(kDirectivesTag, this, read, [this, path, model = m_document->model()](const DirectivesOrRecipe& asked) {
    if (m_document->model() != model) return;  // another network has been opened meanwhile
    if (asked.recipe && !asked.recipe->ok()) {
      const bool json = QFileInfo(path).suffix() == QLatin1String("json");
      return showProblem(
          json ? QStringLiteral("These directives cannot be used") : QStringLiteral("This recipe cannot be used"),
          problemText(asked.recipe->error()));
    }
    if (asked.recipe) return takeRecipe(asked.recipe->value());
    PlanOptions options = m_document->options();
    adopt(*asked.directives, options);
    m_document->edit(QStringLiteral("Open directives"), std::move(options));
  });
}

/// Adds the requests of a recipe of TensorRT's old tools to the options of this document, and reports which of them
/// were not added.
void MainWindow::takeRecipe(const Recipe& recipe) {
  PlanOptions options = m_document->options();
  adopt(recipe, options);
  m_document->edit(QStringLiteral("Open a recipe"), std::move(options));
  m_messages->close(kRecipeKey);
  if (recipe.unmapped.empty()) return;
  QString text = recipe.unmapped.size() == 1
                     ? QStringLiteral("The recipe was adopted, except for one entry:")
                     : QStringLiteral("The recipe was adopted, except for %1 entries:").arg(recipe.unmapped.size());
  for (const UnmappedEntry& entry : recipe.unmapped)
    text += QStringLiteral("\n%1: %2.").arg(qs(entry.entry), qs(entry.why));
  m_messages->show(kRecipeKey, text, {});
}

}  // namespace fusescope
