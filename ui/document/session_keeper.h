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

#include "session/open_artifact.h"
#include "session/open_model.h"
#include "session/session_file.h"
#include "ui/document/run_controller.h"
#include "ui/document/session_folder.h"

namespace fusescope {

class TemporaryFolder;

/// Manages the session: opens it, saves it, saves it automatically, finds sessions of windows that were killed, and
/// notices that a model changed on disk. It is used on the GUI thread; files are read and written on other threads.
class SessionKeeper : public QObject {
  Q_OBJECT

 public:
  SessionKeeper(PlanDocument& document, Runs& runs, RunController& controller, JobRunner& jobs,
                QObject* parent = nullptr);
  ~SessionKeeper() override;

  /// Sets the folder for automatic saving. Without it nothing is saved, and engines are deleted with this object. Files
  /// that no session there refers to are deleted on another thread.
  void setFolder(const QString& folder);
  bool keeps() const { return m_folder.valid(); }
  /// Sets the function that returns the state of the window, which is stored in the session; restored() passes it back.
  void setView(std::function<Json()> view) { m_view = std::move(view); }

  QString path() const { return m_path; }  ///< the file to which the user saved it; empty: never
  /// Returns whether work of the user is in no file of the user: edits, ranges or runs, or, for a session with a file,
  /// the settings of runs. What was given when the model was opened, which run is displayed, and the goal of a search
  /// for pins do not count. Returns false if sessions are not saved automatically, so that nobody is asked.
  bool unsaved() const;
  const QString& modelName() const { return m_modelName; }
  Session session() const;

  /// Opens a model, plan, engine or session. If the model is open already, it is only read again, and nothing is lost.
  void open(const QString& path, const PlanOptions& options = {}, const std::vector<InputOverride>& inputs = {});
  /// Opens the session that modelMissing() reported, with the present path of its model.
  void locate(const QString& model);
  Status save(const QString& path);

  std::vector<SessionFolder::Left> left() const { return m_folder.left(QString::fromStdString(m_id)); }
  void recover(const QString& file);
  void discard(const QString& file);
  /// Called when the user has closed the session, saved or not: the automatically saved file is deleted.
  void close();

 signals:
  void changed();  ///< path() or unsaved() changed
  void began();    ///< a new session was created for a model that was opened; after PlanDocument::modelChanged()
  void failed(const QString& title, const QString& problem);
  void modelMissing(const QString& session, const QString& model);
  /// `path` is the file that changed: the model's, or one with its weights. `inWeightsAlone` says that the network is
  /// unchanged.
  void modelChangedOnDisk(const QString& path, bool inWeightsAlone);
  void openElsewhere(const QString& session);  ///< another window has this session open, so that this is a copy
  void restored(const Json& view);             ///< after PlanDocument::modelChanged()

 private:
  /// A session that was read.
  struct Waiting {
    Session session;
    QString path;  ///< the file in which it is saved; empty if there is none
    bool unsaved = false;
  };

  void openSession(const QString& path, bool recovered);
  void restore(Waiting read, bool modelChanged);
  void modelOpened();
  /// Returns false if another window has the session `id`, in which case this window gets a new session.
  bool begin(const std::string& id);
  void collect();
  /// Removes what was stored automatically, also if it is being written at the moment.
  void dropKept();
  void keepSoon();
  void keepNow();
  /// Is called when the user has done something that is worth saving.
  void worked();
  /// Returns the settings without those that are not worth saving.
  RunSettings settings() const;
  /// Notes that a file of the user contains everything, or that there is nothing to save yet.
  void noteSaved(bool saved);
  void checkModel();
  /// Watches the files, also those that were replaced by files of the same name, which ends a watch.
  void watch(const ModelFile& file);

  PlanDocument& m_document;
  Runs& m_runs;
  RunController& m_controller;
  JobRunner& m_jobs;
  SessionFolder m_folder;
  QString m_path, m_modelName, m_openModel;
  std::string m_id;
  /// whether the session differs from the user's file or from what was opened, so that it is stored automatically
  bool m_differs = false;
  bool m_worked = false;
  RunSettings m_settings;  ///< settings() when they were saved or opened
  std::function<Json()> m_view;
  std::optional<Waiting> m_pending;  ///< the session whose model is being opened
  std::optional<Waiting> m_missing;  ///< the session whose model is not at its place and must be located
  std::unique_ptr<QLockFile> m_lock;
  std::shared_ptr<std::atomic<bool>> m_keptWanted;  ///< read by the thread that writes
  std::unique_ptr<TemporaryFolder> m_scratch;       ///< for engines if no session is stored
  QTimer m_keepTimer, m_checkTimer;
  QElapsedTimer m_lastKept;
  QFileSystemWatcher m_watcher;
};

}  // namespace fusescope
