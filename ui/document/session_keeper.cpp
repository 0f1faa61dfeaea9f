#include "ui/document/session_keeper.h"

#include <QDir>
#include <QFileInfo>
#include <QUuid>
#include <algorithm>
#include <utility>

#include "base/temporary_folder.h"
#include "session/exported_program_report.h"
#include "session/inputs/load_samples.h"
#include "session/inputs/sample_source.h"
#include "session/inputs/samples.h"
#include "session/network_difference.h"
#include "session/open_artifact.h"
#include "session/open_model.h"
#include "ui/document/option_words.h"
#include "ui/document/qt_text.h"
#include "ui/jobs/job_runner.h"

namespace fusescope {

namespace {

/// The time between two saves; the first change after a longer time is saved immediately.
constexpr int kKeepMs = 1000;
constexpr int kCheckMs = 300;  ///< a file that is being written changes many times
const QString kReadSessionTag = QStringLiteral("read session");
const QString kKeepTag = QStringLiteral("keep session");
const QString kCheckTag = QStringLiteral("check model");
const QString kCollectTag = QStringLiteral("collect engines");

std::string newId() {
  return QUuid::createUuid().toString(QUuid::WithoutBraces).toStdString();
}

QStringList pathsOf(const ModelFile& model) {
  QStringList paths{qs(model.path)};
  for (const FileContent& data : model.data) paths << qs(data.path);
  return paths;
}

/// Returns null if no folder can be made.
std::unique_ptr<TemporaryFolder> scratchFolder() {
  auto folder = TemporaryFolder::in(QDir::tempPath().toStdString(), "fusescope-window");
  return folder.ok() ? std::make_unique<TemporaryFolder>(std::move(folder).value()) : nullptr;
}

struct Read {
  Session session;
  ModelState model;
};

}  // namespace

SessionKeeper::SessionKeeper(PlanDocument& document, Runs& runs, RunController& controller, JobRunner& jobs,
                             QObject* parent)
    : QObject(parent),
      m_document(document),
      m_runs(runs),
      m_controller(controller),
      m_jobs(jobs),
      m_keptWanted(std::make_shared<std::atomic<bool>>(true)) {
  m_keepTimer.setSingleShot(true);
  m_checkTimer.setSingleShot(true);
  m_checkTimer.setInterval(kCheckMs);
  connect(&m_keepTimer, &QTimer::timeout, this, &SessionKeeper::keepNow);
  connect(&m_checkTimer, &QTimer::timeout, this, &SessionKeeper::checkModel);
  connect(&m_watcher, &QFileSystemWatcher::fileChanged, &m_checkTimer, qOverload<>(&QTimer::start));
  connect(&document, &PlanDocument::modelChanged, this, &SessionKeeper::modelOpened);
  connect(&document, &PlanDocument::openFailed, this, [this] { m_pending.reset(); });
  connect(&document, &PlanDocument::openingCancelled, this, [this] {
    m_pending.reset();
    m_jobs.cancel(kReadSessionTag);
  });
  connect(&document.undoStack(), &QUndoStack::indexChanged, this, &SessionKeeper::keepSoon);
  connect(&document.undoStack(), &QUndoStack::cleanChanged, this, &SessionKeeper::changed);
  connect(&document, &PlanDocument::calibratedChanged, this, &SessionKeeper::worked);
  connect(&runs, &Runs::runsChanged, this, &SessionKeeper::worked);
  connect(&runs, &Runs::runChanged, this, &SessionKeeper::worked);
  connect(&runs, &Runs::settingsChanged, this, [this] {
    if (!m_path.isEmpty() && settings() != m_settings) worked();
  });
  connect(&runs, &Runs::changed, this, &SessionKeeper::keepSoon);
  begin(newId());
}

SessionKeeper::~SessionKeeper() = default;

void SessionKeeper::setFolder(const QString& folder) {
  m_folder = SessionFolder(folder);
  begin(m_id);
  collect();
}

bool SessionKeeper::begin(const std::string& id) {
  m_lock.reset();
  m_id = id;
  if (!keeps()) {
    if (m_scratch == nullptr) m_scratch = scratchFolder();
    m_controller.setEngineFolder(m_scratch == nullptr ? QString() : qs((*m_scratch / id).string()));
    return true;
  }
  m_lock = m_folder.lock(qs(id));
  const bool free = m_lock != nullptr;
  if (!free) {
    m_id = newId();
    m_lock = m_folder.lock(qs(m_id));
  }
  m_controller.setEngineFolder(m_folder.engineFolder(qs(m_id)));
  return free;
}

void SessionKeeper::collect() {
  if (!keeps()) return;
  const Session own = session();
  const auto work = [folder = m_folder,
                     own = SessionFolder::Own{.id = qs(own.id), .nextRun = own.nextRun, .engines = enginesOf(own)}](
                        const StopToken&) {
    folder.collect(own);
    return Done{};
  };
  m_jobs.run(kCollectTag, this, work, [](const Done&) {});
}

bool SessionKeeper::unsaved() const {
  return keeps() && (m_worked || !m_document.undoStack().isClean());
}

void SessionKeeper::worked() {
  keepSoon();
  if (std::exchange(m_worked, true)) return;
  emit changed();
}

RunSettings SessionKeeper::settings() const {
  RunSettings settings = m_runs.settings();
  settings.tune = {};
  return settings;
}

void SessionKeeper::noteSaved(bool saved) {
  m_differs = m_worked = !saved;
  m_settings = settings();
}

Session SessionKeeper::session() const {
  Session session;
  session.id = m_id;
  session.savedAs = m_path.toStdString();
  session.model = m_document.modelFile();
  if (m_document.kind() == ArtifactKind::Plan) {
    // The plan's file is what is opened again; the model is listed as one of its data files.
    ModelFile plan{{.path = m_document.path().toStdString()}};
    plan.data.push_back(session.model);
    plan.data.insert(plan.data.end(), session.model.data.begin(), session.model.data.end());
    session.model = std::move(plan);
  }
  session.extents = m_document.inputs();
  session.options = m_document.options();
  session.calibrated = {m_document.calibrated()};
  m_runs.store(session);
  if (m_view) session.view = m_view();
  return session;
}

void SessionKeeper::open(const QString& path, const PlanOptions& options, const std::vector<InputOverride>& inputs) {
  if (isSessionFile(path.toStdString())) return openSession(path, false);
  m_pending.reset();  // the new file replaces a session whose model is still being opened
  m_jobs.cancel(kReadSessionTag);
  const bool again = m_document.model() && QFileInfo(path) == QFileInfo(m_document.path());
  if (again && options == PlanOptions() && inputs.empty()) return m_document.reload();
  m_document.open(path, options, inputs);
}

void SessionKeeper::openSession(const QString& path, bool recovered) {
  const auto work = [file = path.toStdString()](const StopToken&) -> Result<Read> {
    Read read{.session = TRY(readSession(file))};
    read.model = stateOnDisk(read.session.model);
    return read;
  };
  m_jobs.run(kReadSessionTag, this, work, [this, path, recovered](const Result<Read>& read) {
    if (!read.ok()) {
      emit failed(QStringLiteral("This session cannot be opened"), problemText(read.error()));
      return;
    }
    const Session& session = read.value().session;
    const Waiting waiting{session, recovered ? qs(session.savedAs) : path, recovered};
    if (read.value().model.change == ModelChange::Missing) {
      m_missing = waiting;
      emit modelMissing(path, qs(session.model.path));
      return;
    }
    restore(waiting, read.value().model.change == ModelChange::Changed);
  });
}

void SessionKeeper::locate(const QString& model) {
  if (!m_missing) return;
  Waiting found = *m_missing;  // a copy: if this file is no model either, the session continues to wait
  found.session.model = movedTo(std::move(found.session.model), model.toStdString());
  // The files are read on another thread. If the model has not changed, everything in the session applies.
  m_jobs.run(
      kReadSessionTag, this, [file = found.session.model](const StopToken&) { return stateOnDisk(file); },
      [this, found](const ModelState& state) { restore(found, state.change == ModelChange::Changed); });
}

void SessionKeeper::restore(Waiting read, bool modelChanged) {
  const QString model = qs(read.session.model.path);
  const PlanOptions options = read.session.options;
  const auto extents = read.session.extents;
  m_pending = std::move(read);
  m_document.open(model, options, extents, modelChanged);
}

void SessionKeeper::modelOpened() {
  const bool again = m_openModel == m_document.path() && !m_pending;
  m_openModel = m_document.path();
  m_modelName = QFileInfo(m_openModel).fileName();
  if (!m_watcher.files().isEmpty()) m_watcher.removePaths(m_watcher.files());
  m_watcher.addPaths(pathsOf(m_document.modelFile()));
  if (again) return emit changed();  // the same model was read again, and everything else stays
  m_missing.reset();
  m_controller.forget();
  m_document.undoStack().clear();
  close();
  if (m_pending) {
    const auto [session, path, unsaved] = *std::exchange(m_pending, std::nullopt);
    const bool free = begin(session.id.empty() ? newId() : session.id);
    m_path = free ? path : QString();
    m_runs.restore(session);
    m_document.setCalibrated(session.calibrated.ranges);
    noteSaved(!unsaved);
    if (!path.isEmpty()) PlanDocument::remember(path);
    if (free && keeps() && !m_path.isEmpty()) m_folder.noteSaved(session, m_path);  // also if the file was moved
    emit restored(session.view);
    if (!free) emit openElsewhere(path);
  } else {
    begin(newId());
    m_path.clear();
    // The settings of runs are the user's, whereas inputs belong to the network for which they were chosen.
    Session fresh;
    fresh.settings = m_runs.settings();
    std::string whyNot;  // ignored; examples in an ONNX file are small and found quickly
    const bool isOnnx = m_document.kind() == ArtifactKind::Model && !isOfExportedProgram(*m_document.model());
    fresh.settings.inputs = isOnnx ? orCarried({}, *m_document.snapshot()->plan, whyNot) : SampleSource();
    fresh.settings.tune = {};
    m_runs.restore(fresh);
    m_document.setCalibrated(nullptr);
    emit began();
    noteSaved(true);  // what the model contains counts as saved, too
  }
  emit changed();
}

Status SessionKeeper::save(const QString& path) {
  Session toSave = session();
  toSave.savedAs.clear();
  auto written = writeSession(path.toStdString(), toSave);
  if (!written.ok()) return written;
  if (keeps()) m_folder.noteSaved(toSave, path);
  m_path = path;
  noteSaved(true);
  m_document.undoStack().setClean();
  PlanDocument::remember(path);
  keepNow();
  collect();  // removes the engines of deleted runs, to which no file refers any more
  emit changed();
  return written;
}

void SessionKeeper::keepSoon() {
  if (!m_document.model()) return;
  m_differs = true;
  if (!keeps() || m_keepTimer.isActive()) return;
  const qint64 rested = m_lastKept.isValid() ? m_lastKept.elapsed() : kKeepMs;
  m_keepTimer.start(static_cast<int>(std::clamp<qint64>(kKeepMs - rested, 0, kKeepMs)));
}

void SessionKeeper::keepNow() {
  m_keepTimer.stop();
  if (!keeps() || !m_document.model()) return;
  m_lastKept.start();
  if (!m_differs) return dropKept();  // the user's file contains everything
  const auto work = [file = m_folder.keptFile(qs(m_id)), kept = session(), wanted = m_keptWanted](const StopToken&) {
    auto written = writeSession(file.toStdString(), kept);
    if (!*wanted) QFile::remove(file);
    return written;
  };
  m_jobs.run(kKeepTag, this, work, [this](const Status& written) {
    if (!written.ok()) emit failed(QStringLiteral("The session cannot be kept"), problemText(written.error()));
  });
}

void SessionKeeper::dropKept() {
  m_jobs.cancel(kKeepTag);
  *m_keptWanted = false;
  m_keptWanted = std::make_shared<std::atomic<bool>>(true);
  QFile::remove(m_folder.keptFile(qs(m_id)));
}

void SessionKeeper::recover(const QString& file) {
  openSession(file, true);
}

void SessionKeeper::discard(const QString& file) {
  QFile::remove(file);
  collect();  // a file of the user may still refer to some of the engines
}

void SessionKeeper::close() {
  m_keepTimer.stop();
  if (!keeps()) return;
  dropKept();
  // If a file of the user contains the session, its engines are kept, because comparing needs them. Otherwise they are
  // removed.
  if (m_path.isEmpty()) m_folder.removeEngines(qs(m_id));
}

void SessionKeeper::watch(const ModelFile& file) {
  for (const QString& path : pathsOf(file))
    if (!m_watcher.files().contains(path) && QFile::exists(path)) m_watcher.addPath(path);
}

void SessionKeeper::checkModel() {
  struct Found {
    ModelState state;
    bool inWeightsAlone = false;
  };
  const ModelFile known = m_document.modelFile();
  watch(known);
  const auto model = m_document.kind() == ArtifactKind::Model ? m_document.model() : nullptr;
  const auto look = [known, model, inputs = m_document.inputs()](const StopToken& stop) {
    Found found{stateOnDisk(known)};
    if (found.state.change != ModelChange::Changed || model == nullptr) return found;
    const auto now = openModel(known.path, inputs, stop);  // the numbers that were read before may no longer exist
    found.inWeightsAlone =
        now.ok() && compareExceptWeights(*unquantized(model), *now.value(), Numbers::LeftOut).isSameNetwork();
    return found;
  };
  m_jobs.run(kCheckTag, this, look, [this, known](const Found& found) {
    const ModelState& state = found.state;
    if (!(known == m_document.modelFile())) return;
    watch(known);
    if (state.change == ModelChange::Changed) emit modelChangedOnDisk(qs(state.file), found.inWeightsAlone);
  });
}

}  // namespace fusescope
