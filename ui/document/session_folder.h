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

/// Of session files.
inline const QString kSessionSuffix = QStringLiteral(".fsession");
/// In the engineFolder() of a session: what the worker hands a value of the network over in. Read, it is deleted.
inline const QString kValueFile = QStringLiteral("value.npz");

/// The folder in which windows keep sessions by themselves. Of the session ID there are: ID.fsession, what is in no
/// file of the user's; ID.lock while a window has it; ID/, the engine files of its runs and what searches for pins
/// evaluated and answered, and beside them saved_as, the user's files that refer to them. Nothing here but what this
/// class, the worker and the search's dialog have put there is ever deleted. A value; its functions may be called in
/// any thread.
class SessionFolder {
 public:
  explicit SessionFolder(QString path = {}) : m_path(std::move(path)) {}
  bool valid() const { return !m_path.isEmpty(); }
  QString keptFile(const QString& id) const;
  QString engineFolder(const QString& id) const;

  /// Null: another window has the session. Given free when it is destroyed, and when the process ends. Somebody who
  /// only looks whether it is free, or collects, is waited for.
  std::unique_ptr<QLockFile> lock(const QString& id) const;

  /// A session that a window left behind when it ended without closing.
  struct Left {
    QString file, model, savedAs, when;
    std::int64_t runs = 0, pins = 0;
  };
  /// All of them, the newest first, but that of `own`.
  std::vector<Left> left(const QString& own) const;

  /// `file`, the user's, refers to the engines of these runs, and to what searches evaluated, from now on.
  void noteSaved(const Session& session, const QString& file) const;
  /// What a session has that is in no file: it, and the number of its next run. A run that comes later is left alone.
  struct Own {
    QString id;
    std::int64_t nextRun = 1;
    std::set<QString> engines;  ///< that its runs refer to
  };
  /// Deletes files of engines and searches that no session refers to any more, and what writing left half done; of
  /// sessions that another window has, nothing. A session that cannot be read, or whose disk is not there, is taken to
  /// refer to all of its own.
  void collect(const Own& own) const;
  /// All engine files of the session, which is in no file.
  void removeEngines(const QString& id) const;

 private:
  struct Known;
  Known known() const;
  QString lockFile(const QString& id) const;
  /// Does it while no window has the session; false: one has. What it does is short: others wait for it.
  bool whileFree(const QString& id, const std::function<void()>& work) const;
  void collectEngines(const QString& id, const Known& known, const Own& own) const;

  QString m_path;
};

/// What a search for pins keeps its evaluations in, and what its answer is kept in: names of files in the
/// engineFolder() of its session.
QString tuneStateName(const Hash128& wishes);
QString tuneAnswerName(const Hash128& wishes);

/// Paths of the engines of its runs.
std::set<QString> enginesOf(const Session& session);

}  // namespace fusescope
