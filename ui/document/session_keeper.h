#pragma once

#include <QElapsedTimer>
#include <QFileSystemWatcher>
#include <QObject>
#include <QString>
#include <QTimer>
#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "session/session_file.h"
#include "ui/document/run_controller.h"
#include "ui/document/session_folder.h"

namespace fusescope {

class TemporaryFolder;

/// Keeps the session: opens, saves, saves by itself, finds what another window left when it was killed, notices a model
/// that changed on disk. Lives in the GUI thread; files are read and written elsewhere.
class SessionKeeper : public QObject {
  Q_OBJECT

 public:
  SessionKeeper(PlanDocument& document, Runs& runs, RunController& controller, JobRunner& jobs,
                QObject* parent = nullptr);
  ~SessionKeeper() override;

  /// The folder where sessions are kept by themselves. Without one nothing is kept, and engines live as long as this.
  /// What no session there refers to any more is collected, elsewhere.
  void setFolder(const QString& folder);
  bool keeps() const { return m_folder.valid(); }
  /// How the window stands, put into the session; given back by restored().
  void setView(std::function<Json()> view) { m_view = std::move(view); }

  QString path() const { return m_path; }  ///< as the user saved it; empty: never
  /// Something that somebody did is in no file of the user's: edits, ranges or runs, or of a session that has a file
  /// how runs are made. What was given when the model was opened, which run is shown and what a search for pins was to
  /// reach is nothing of the kind. False where sessions are not kept: nobody is asked then.
  bool unsaved() const;
  const QString& modelName() const { return m_modelName; }
  Session session() const;

  /// Opens a model, plan, engine or session. The model that is open already is only read again: nothing is lost.
  void open(const QString& path, const PlanOptions& options = {}, const std::vector<InputOverride>& inputs = {});
  /// The session that modelMissing() was about, with its model where it is now.
  void locate(const QString& model);
  Status save(const QString& path);

  std::vector<SessionFolder::Left> left() const { return m_folder.left(QString::fromStdString(m_id)); }
  void recover(const QString& file);
  void discard(const QString& file);
  /// The user has closed it, saved or not: what was kept by itself goes.
  void close();

 signals:
  void changed();  ///< path(), unsaved()
  void began();    ///< a session of its own for a model that was opened; after PlanDocument::modelChanged()
  void failed(const QString& title, const QString& problem);
  void modelMissing(const QString& session, const QString& model);
  /// `path`: of the file that changed, the model's or one of its weights. `inWeightsAlone`: the network is the same.
  void modelChangedOnDisk(const QString& path, bool inWeightsAlone);
  void openElsewhere(const QString& session);  ///< another window has it: what is open here is a copy
  void restored(const Json& view);             ///< after PlanDocument::modelChanged()

 private:
  /// A session that was read.
  struct Waiting {
    Session session;
    QString path;  ///< where it is saved; empty: nowhere
    bool unsaved = false;
  };

  void openSession(const QString& path, bool recovered);
  void restore(Waiting read, bool modelChanged);
  void modelOpened();
  /// False: another window has the session `id`, and this one has another.
  bool begin(const std::string& id);
  void collect();
  /// What is kept by itself is no longer wanted, also if it is just being written.
  void dropKept();
  void keepSoon();
  void keepNow();
  /// Somebody did something that is worth saving.
  void worked();
  /// The settings, without what is not worth saving of them.
  RunSettings settings() const;
  /// All of it is in a file of the user's, or there is nothing yet.
  void noteSaved(bool saved);
  void checkModel();
  /// Watches its files, also those that were replaced by others of the same name, which ends a watch.
  void watch(const ModelFile& file);

  PlanDocument& m_document;
  Runs& m_runs;
  RunController& m_controller;
  JobRunner& m_jobs;
  SessionFolder m_folder;
  QString m_path, m_modelName, m_openModel;
  std::string m_id;
  bool m_differs = false;  ///< from the file of the user's, or from what was opened: it is kept by itself
  bool m_worked = false;
  RunSettings m_settings;  ///< settings() as they were saved or opened
  std::function<Json()> m_view;
  std::optional<Waiting> m_pending;  ///< its model is being opened
  std::optional<Waiting> m_missing;  ///< its model is not where it was, and has to be located
  std::unique_ptr<QLockFile> m_lock;
  std::shared_ptr<std::atomic<bool>> m_keptWanted;  ///< asked by what writes it
  std::unique_ptr<TemporaryFolder> m_scratch;       ///< of engines, where no session is kept
  QTimer m_keepTimer, m_checkTimer;
  QElapsedTimer m_lastKept;
  QFileSystemWatcher m_watcher;
};

}  // namespace fusescope
