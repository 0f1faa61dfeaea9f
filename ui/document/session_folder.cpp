#include "ui/document/session_folder.h"

#include <QDateTime>
#include <QDir>
#include <QFileInfo>
#include <QRegularExpression>
#include <QSet>
#include <QThread>
#include <mutex>

#include "base/files.h"
#include "ui/document/qt_text.h"

namespace fusescope {

namespace {

const QString kLockSuffix = QStringLiteral(".lock");
const QString kSavedAs = QStringLiteral("saved_as");
constexpr int kNever = 0;  ///< a lock becomes stale only when its process ends
/// A window that collects files holds a lock for at most this time; a window that has the session open holds it
/// permanently.
constexpr int kAttempts = 10, kAttemptMs = 2;

/// Matches "run-7.fse", "tune-0f….json", "tuned-0f….json", "value.npz", and unfinished files such as
/// "run-7.fse.x1Y2z3".
const QRegularExpression& keptName() {
  static const QRegularExpression name(
      QStringLiteral("^(?:run-(\\d+)\\.fse|tuned?-[0-9a-f]{32}\\.json|value\\.npz)(\\.\\w{6})?$"));
  return name;
}

/// Matches "ID.fsession.x1Y2z3", a session that was not written completely.
const QRegularExpression& halfWrittenName() {
  static const QRegularExpression name(QStringLiteral("^(.+)\\.fsession\\.\\w{6}$"));
  return name;
}

/// A thread of this process locks it while it briefly holds a lock file. For other threads, the lock file would look
/// like another window.
std::mutex& lookingMutex() {
  static std::mutex mutex;
  return mutex;
}

std::unique_ptr<QLockFile> tryLock(const QString& file) {
  auto lock = std::make_unique<QLockFile>(file);
  lock->setStaleLockTime(kNever);
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    if (attempt > 0) QThread::msleep(kAttemptMs);
    if (lock->tryLock(0)) return lock;
  }
  return nullptr;
}

QStringList linesOf(const QString& file) {
  const auto text = readTextFile(file.toStdString());
  return text.ok() ? qs(text.value()).split(QLatin1Char('\n'), Qt::SkipEmptyParts) : QStringList();
}

}  // namespace

/// The files to which all sessions refer.
struct SessionFolder::Known {
  std::set<QString> engines;
  QSet<QString> unread;  ///< ids of sessions that could not be read
  QSet<QString> ids;     ///< ids of the other sessions

  void add(const QString& file, const QString& id) {
    const auto session = readSession(file.toStdString());
    if (!session.ok()) return void(unread.insert(id));
    ids.insert(id);
    engines.merge(enginesOf(session.value()));
  }
};

QString tuneStateName(const Hash128& request) {
  return QStringLiteral("tune-%1.json").arg(qs(request.hex()));
}

QString tuneAnswerName(const Hash128& request) {
  return QStringLiteral("tuned-%1.json").arg(qs(request.hex()));
}

std::set<QString> enginesOf(const Session& session) {
  std::set<QString> engines;
  for (const Run& run : session.runs)
    if (!run.enginePath.empty()) engines.insert(QDir::cleanPath(qs(run.enginePath)));
  return engines;
}

QString SessionFolder::keptFile(const QString& id) const {
  return QDir(m_path).filePath(id + kSessionSuffix);
}

QString SessionFolder::engineFolder(const QString& id) const {
  return QDir(m_path).filePath(id);
}

QString SessionFolder::lockFile(const QString& id) const {
  return QDir(m_path).filePath(id + kLockSuffix);
}

std::unique_ptr<QLockFile> SessionFolder::lock(const QString& id) const {
  QDir().mkpath(m_path);
  const std::scoped_lock nobodyLooks(lookingMutex());
  return tryLock(lockFile(id));
}

bool SessionFolder::whileFree(const QString& id, const std::function<void()>& work) const {
  const std::scoped_lock one(lookingMutex());
  const auto held = tryLock(lockFile(id));  // releasing the lock removes its file
  if (held == nullptr) return false;
  work();
  return true;
}

std::vector<SessionFolder::Left> SessionFolder::left(const QString& own) const {
  std::vector<Left> found;
  if (!valid()) return found;
  for (const QFileInfo& file :
       QDir(m_path).entryInfoList({QStringLiteral("*") + kSessionSuffix}, QDir::Files, QDir::Time)) {
    if (file.completeBaseName() == own || !whileFree(file.completeBaseName(), [] {})) continue;
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

void SessionFolder::noteSaved(const Session& session, const QString& file) const {
  const QString absolute = QFileInfo(file).absoluteFilePath();
  std::set<QString> folders{engineFolder(qs(session.id))};
  for (const QString& engine : enginesOf(session)) {
    const QFileInfo folder(QFileInfo(engine).path());
    if (QDir(folder.path()) == QDir(m_path)) folders.insert(folder.filePath());
  }
  for (const QString& folder : folders) {
    const QString list = QDir(folder).filePath(kSavedAs);
    QStringList files = linesOf(list);
    if (files.contains(absolute) || !QFileInfo(folder).isDir()) continue;
    files << absolute;
    // If the list cannot be written, the engines may be removed; they are built again when they are needed.
    (void)writeFileAtomically(list.toStdString(), (files.join(QLatin1Char('\n')) + QLatin1Char('\n')).toStdString());
  }
}

SessionFolder::Known SessionFolder::known() const {
  Known known;
  const QDir folder(m_path);
  for (const QString& kept : folder.entryList({QStringLiteral("*") + kSessionSuffix}, QDir::Files))
    known.add(folder.filePath(kept), QFileInfo(kept).completeBaseName());
  for (const QString& id : folder.entryList(QDir::Dirs | QDir::NoDotAndDotDot)) {
    for (const QString& file : linesOf(QDir(engineFolder(id)).filePath(kSavedAs))) {
      if (QFileInfo::exists(file)) {
        known.add(file, id);
      } else if (!QFileInfo(QFileInfo(file).path()).isDir()) {
        known.unread.insert(id);  // its disk may become available again
      }
    }
  }
  return known;
}

void SessionFolder::collectEngines(const QString& id, const Known& known, const Own& own) const {
  const QDir folder(engineFolder(id));
  bool more = false;
  for (const QString& file : folder.entryList(QDir::Files)) {
    const auto name = keptName().match(file);
    if (!name.hasMatch()) continue;
    const QString path = QDir::cleanPath(folder.filePath(file));
    const bool ofRun = !name.captured(1).isEmpty(), halfWritten = !name.captured(2).isEmpty();
    const bool later = id == own.id && ofRun && name.captured(1).toLongLong() >= own.nextRun;
    const bool wanted = halfWritten || !ofRun ? id == own.id || (!halfWritten && known.ids.contains(id))
                                              : known.engines.contains(path) || own.engines.contains(path);
    if (later || wanted || !QFile::remove(path)) more = true;
  }
  if (more || id == own.id) return;
  QFile::remove(folder.filePath(kSavedAs));
  QDir(m_path).rmdir(id);  // this fails if the folder contains a file of another program
}

void SessionFolder::removeEngines(const QString& id) const {
  collectEngines(id, Known(), Own());
}

void SessionFolder::collect(const Own& own) const {
  const Known all = known();
  const QDir folder(m_path);
  QSet<QString> ids;
  for (const QString& id : folder.entryList(QDir::Dirs | QDir::NoDotAndDotDot)) ids.insert(id);
  for (const QString& file : folder.entryList({QStringLiteral("*") + kLockSuffix}, QDir::Files))
    ids.insert(QFileInfo(file).completeBaseName());
  const QStringList halfWritten =
      folder.entryList({QStringLiteral("*") + kSessionSuffix + QStringLiteral(".*")}, QDir::Files);
  for (const QString& file : halfWritten)
    if (const auto name = halfWrittenName().match(file); name.hasMatch()) ids.insert(name.captured(1));
  for (const QString& id : ids) {
    const auto engines = [&] {
      if (!all.unread.contains(id)) collectEngines(id, all, own);
    };
    if (id == own.id) {
      engines();
      continue;
    }
    whileFree(id, [&] {
      engines();
      for (const QString& file : halfWritten)
        if (halfWrittenName().match(file).captured(1) == id) QFile::remove(folder.filePath(file));
    });
  }
}

}  // namespace fusescope
