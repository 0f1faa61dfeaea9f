#include "ui/document/session_keeper.h"

#include <QDateTime>
#include <QDir>
#include <QFileInfo>
#include <QUuid>

#include "ui/document/qt_text.h"
#include "ui/jobs/job_runner.h"

namespace fusescope {

namespace {

constexpr int kKeepMs = 1000;  ///< after a change; several changes are kept at once
constexpr int kCheckMs = 300;  ///< a file that is being written changes many times
const QString kSuffix = QStringLiteral(".fsession");
const QString kReadTag = QStringLiteral("read session");
const QString kKeepTag = QStringLiteral("keep session");
const QString kCheckTag = QStringLiteral("check model");

struct Read {
  Session session;
  ModelChange change = ModelChange::Same;
};

}  // namespace

SessionKeeper::SessionKeeper(PlanDocument& document, Runs& runs, RunController& controller, JobRunner& jobs,
                             QObject* parent)
    : QObject(parent), m_document(document), m_runs(runs), m_controller(controller), m_jobs(jobs) {
  m_keepTimer.setSingleShot(true);
  m_keepTimer.setInterval(kKeepMs);
  m_checkTimer.setSingleShot(true);
  m_checkTimer.setInterval(kCheckMs);
  connect(&m_keepTimer, &QTimer::timeout, this, &SessionKeeper::keepNow);
  connect(&m_checkTimer, &QTimer::timeout, this, &SessionKeeper::checkModel);
  connect(&m_watcher, &QFileSystemWatcher::fileChanged, &m_checkTimer, qOverload<>(&QTimer::start));
  connect(&document, &PlanDocument::modelChanged, this, &SessionKeeper::modelOpened);
  connect(&document, &PlanDocument::openFailed, this, [this] { m_pending.reset(); });
  connect(&document, &PlanDocument::openingCancelled, this, [this] { m_pending.reset(); });
  connect(&document.undoStack(), &QUndoStack::indexChanged, this, &SessionKeeper::keepSoon);
  connect(&runs, &Runs::changed, this, &SessionKeeper::keepSoon);
  begin(QUuid::createUuid().toString(QUuid::WithoutBraces).toStdString());
}

SessionKeeper::~SessionKeeper() = default;

void SessionKeeper::setFolder(const QString& folder) {
  m_folder = folder;
  begin(m_id);
}

QString SessionKeeper::keptFile(const QString& id) const {
  return QDir(m_folder).filePath(id + kSuffix);
}

/// From now on it is the session `id`: its lock says that a window has it.
void SessionKeeper::begin(const std::string& id) {
  m_id = id;
  m_lock.reset();
  if (m_folder.isEmpty()) {
    m_controller.setEngineFolder(QDir(m_scratch.path()).filePath(qs(id)));
    return;
  }
  QDir().mkpath(m_folder);
  m_controller.setEngineFolder(QDir(m_folder).filePath(qs(id)));
  m_lock = std::make_unique<QLockFile>(QDir(m_folder).filePath(qs(id) + QStringLiteral(".lock")));
  m_lock->setStaleLockTime(0);
  m_lock->tryLock(0);
}

Session SessionKeeper::session() const {
  Session session;
  session.id = m_id;
  session.savedAs = m_path.toStdString();
  session.model = m_document.modelFile();
  // Of a plan or an engine the file itself is opened again.
  if (m_document.kind() != ArtifactKind::Model) session.model = {.path = m_document.path().toStdString()};
  session.extents = m_document.inputs();
  session.options = m_document.options();
  m_runs.store(session);
  if (m_view) session.view = m_view();
  return session;
}

void SessionKeeper::open(const QString& path, const PlanOptions& options, const std::vector<InputOverride>& inputs) {
  if (isSessionFile(path.toStdString())) return openSession(path, false);
  const bool again = m_document.model() && QFileInfo(path) == QFileInfo(m_document.path());
  if (again && options == PlanOptions() && inputs.empty()) return m_document.reload();
  m_document.open(path, options, inputs);
}

void SessionKeeper::openSession(const QString& path, bool recovered) {
  const auto work = [file = path.toStdString()](const StopToken&) -> Result<Read> {
    Read read{.session = TRY(readSession(file))};
    read.change = modelChange(read.session.model);
    return read;
  };
  m_jobs.run(kReadTag, this, work, [this, path, recovered](const Result<Read>& read) {
    if (!read.ok()) {
      emit failed(QStringLiteral("This session cannot be opened"), qs(read.error().text()));
      return;
    }
    const Session& session = read.value().session;
    m_pendingPath = recovered ? qs(session.savedAs) : path;
    m_pendingUnsaved = recovered;
    if (read.value().change == ModelChange::Missing) {
      m_pending = session;
      emit modelMissing(path, qs(session.model.path));
      return;
    }
    restore(session, read.value().change == ModelChange::Changed);
  });
}

void SessionKeeper::locate(const QString& model) {
  if (!m_pending) return;
  Session session = *std::exchange(m_pending, std::nullopt);
  session.model.path = model.toStdString();
  restore(std::move(session), modelChange(session.model) == ModelChange::Changed);
}

void SessionKeeper::restore(Session session, bool modelChanged) {
  const QString model = qs(session.model.path);
  const PlanOptions options = session.options;
  const auto extents = session.extents;
  m_pending = std::move(session);
  m_document.open(model, options, extents, modelChanged);
}

void SessionKeeper::modelOpened() {
  const bool again = m_openModel == m_document.path() && !m_pending;
  m_openModel = m_document.path();
  m_modelName = QFileInfo(m_openModel).fileName();
  if (!m_watcher.files().isEmpty()) m_watcher.removePaths(m_watcher.files());
  m_watcher.addPath(qs(m_document.modelFile().path));
  if (again) return emit changed();  // read again: everything else stays
  m_controller.forget();
  m_document.undoStack().clear();
  if (m_pending) {
    const Session session = *std::exchange(m_pending, std::nullopt);
    begin(session.id.empty() ? m_id : session.id);
    m_path = m_pendingPath;
    m_runs.restore(session);
    m_unsaved = m_pendingUnsaved;
    emit restored(session.view);
  } else {
    close();
    begin(QUuid::createUuid().toString(QUuid::WithoutBraces).toStdString());
    m_path.clear();
    Session fresh;  // how runs are made stays as the user chose it; inputs are of the network that they were made for
    fresh.settings = m_runs.settings();
    fresh.settings.inputs.clear();
    m_runs.restore(fresh);
    m_unsaved = false;
  }
  emit changed();
}

Status SessionKeeper::save(const QString& path) {
  Session toSave = session();
  toSave.savedAs.clear();
  auto written = writeSession(path.toStdString(), toSave);
  if (!written.ok()) return written;
  m_path = path;
  m_unsaved = false;
  keepNow();
  emit changed();
  return written;
}

void SessionKeeper::keepSoon() {
  if (!m_document.model()) return;
  if (!m_unsaved) {
    m_unsaved = true;
    emit changed();
  }
  if (keeps() && !m_keepTimer.isActive()) m_keepTimer.start();
}

void SessionKeeper::keepNow() {
  m_keepTimer.stop();
  if (!keeps() || !m_document.model()) return;
  if (!m_unsaved) {  // all of it is in the user's file
    QFile::remove(keptFile(qs(m_id)));
    return;
  }
  const auto work = [file = keptFile(qs(m_id)).toStdString(), kept = session()](const StopToken&) {
    return writeSession(file, kept);
  };
  m_jobs.run(kKeepTag, this, work, [this](const Status& written) {
    if (!written.ok()) emit failed(QStringLiteral("The session cannot be kept"), qs(written.error().text()));
  });
}

std::vector<SessionKeeper::Left> SessionKeeper::left() const {
  std::vector<Left> found;
  if (!keeps()) return found;
  for (const QFileInfo& file : QDir(m_folder).entryInfoList({QStringLiteral("*") + kSuffix}, QDir::Files, QDir::Time)) {
    if (file.completeBaseName() == qs(m_id)) continue;
    QLockFile lock(QDir(m_folder).filePath(file.completeBaseName() + QStringLiteral(".lock")));
    lock.setStaleLockTime(0);
    if (!lock.tryLock(0)) continue;  // a window that lives has it
    const auto session = readSession(file.filePath().toStdString());
    if (!session.ok()) continue;
    found.push_back({.file = file.filePath(),
                     .model = qs(session.value().model.path),
                     .savedAs = qs(session.value().savedAs),
                     .when = file.lastModified().toString(QStringLiteral("yyyy-MM-dd HH:mm")),
                     .runs = static_cast<std::int64_t>(session.value().runs.size()),
                     .pins = static_cast<std::int64_t>(session.value().options.directives.size())});
  }
  return found;
}

void SessionKeeper::recover(const QString& file) {
  openSession(file, true);
}

void SessionKeeper::discard(const QString& file) {
  const QFileInfo kept(file);
  QDir(kept.dir().filePath(kept.completeBaseName())).removeRecursively();
  QFile::remove(file);
}

void SessionKeeper::close() {
  m_keepTimer.stop();
  m_jobs.cancel(kKeepTag);
  if (!keeps()) return;
  QFile::remove(keptFile(qs(m_id)));
  // The engines of a session that is in a file of the user's stay: comparing needs them.
  if (m_path.isEmpty()) QDir(QDir(m_folder).filePath(qs(m_id))).removeRecursively();
}

void SessionKeeper::checkModel() {
  const ModelFile known = m_document.modelFile();
  m_jobs.run(
      kCheckTag, this, [known](const StopToken&) { return modelChange(known); },
      [this, path = qs(known.path)](ModelChange change) {
        if (!m_watcher.files().contains(path)) m_watcher.addPath(path);  // one that was replaced is watched no more
        if (change == ModelChange::Changed && path == qs(m_document.modelFile().path)) emit modelChangedOnDisk(path);
      });
}

}  // namespace fusescope
