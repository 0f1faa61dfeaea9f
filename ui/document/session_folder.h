#pragma once

#include <QLockFile>
#include <QString>
#include <QStringList>
#include <functional>
#include <memory>
#include <set>
#include <vector>

#include "session/session_file.h"

namespace fusescope {

/// The suffix of session files.
inline const QString kSessionSuffix = QStringLiteral(".fsession");
/// The file in the engineFolder() of a session in which the worker returns a value of the network. It is deleted after
/// it was read.
inline const QString kValueFile = QStringLiteral("value.npz");

/// The folder in which windows save sessions automatically. For the session ID it contains ID.fsession, with everything
/// that is in no file of the user; ID.lock while a window has it open; and ID/ with the engine files of its runs, the
/// evaluations and answers of searches for pins, and saved_as, which lists the user's files that refer to them. Only
/// files that this class, the worker and the search's dialog wrote are ever deleted. It is a value; its functions may
/// be called on any thread.
class SessionFolder {
 public:
  explicit SessionFolder(QString path = {}) : m_path(std::move(path)) {}
  bool valid() const { return !m_path.isEmpty(); }
  QString keptFile(const QString& id) const;
  QString engineFolder(const QString& id) const;

  /// Locks a session; returns null if another window has it. The lock is released when it is destroyed, and when the
  /// process ends. It waits for a window that only checks the lock or collects files.
  std::unique_ptr<QLockFile> lock(const QString& id) const;

  /// A session of a window that ended without closing it.
  struct Left {
    QString file, model, savedAs, when;
    std::int64_t runs = 0, pins = 0;
  };
  /// Returns all of them, the latest first, except for the session `own`.
  std::vector<Left> left(const QString& own) const;

  /// Records that `file`, a file of the user, refers from now on to the engines of these runs and to the results of
  /// searches.
  void noteSaved(const Session& session, const QString& file) const;
  /// The part of a session that is in no file: the session itself, and the number of its next run. Later runs are
  /// ignored.
  struct Own {
    QString id;
    std::int64_t nextRun = 1;
    std::set<QString> engines;  ///< engine files of its runs
  };
  /// Deletes files of engines and searches that no session refers to any more, and incomplete files; it deletes nothing
  /// of sessions that other windows have open. A session that cannot be read, or whose disk is missing, is assumed to
  /// refer to all of its files.
  void collect(const Own& own) const;
  /// Deletes all engine files of a session that is in no file.
  void removeEngines(const QString& id) const;

 private:
  struct Known;
  Known known() const;
  QString lockFile(const QString& id) const;
  /// Does `work` while no window has the session open, and returns false if one has. The work must be short, because
  /// other windows wait for it.
  bool whileFree(const QString& id, const std::function<void()>& work) const;
  void collectEngines(const QString& id, const Known& known, const Own& own) const;

  QString m_path;
};

/// Returns the names of the files in the engineFolder() of a session in which a search for pins stores its evaluations
/// and its answer.
QString tuneStateName(const Hash128& request);
QString tuneAnswerName(const Hash128& request);

/// Returns the paths of the engines of its runs.
std::set<QString> enginesOf(const Session& session);

}  // namespace fusescope
