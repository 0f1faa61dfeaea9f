#pragma once

#include <QFileSystemWatcher>
#include <QLockFile>
#include <QObject>
#include <QString>
#include <QTemporaryDir>
#include <QTimer>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "session/session_file.h"
#include "ui/document/run_controller.h"

namespace fusescope {

/// Keeps the session: opens, saves, saves by itself, finds what another window left when it was killed, notices a model
/// that changed on disk. Lives in the GUI thread; files are read and written elsewhere.
class SessionKeeper : public QObject {
  Q_OBJECT

 public:
  SessionKeeper(PlanDocument& document, Runs& runs, RunController& controller, JobRunner& jobs,
                QObject* parent = nullptr);
  ~SessionKeeper() override;

  /// The folder where sessions are kept by themselves, one file and the engines of its runs each. Without one nothing
  /// is kept, and engines live as long as this.
  void setFolder(const QString& folder);
  bool keeps() const { return !m_folder.isEmpty(); }
  /// How the window stands, put into the session; given back by restored().
  void setView(std::function<Json()> view) { m_view = std::move(view); }

  QString path() const { return m_path; }     ///< as the user saved it; empty: never
  bool unsaved() const { return m_unsaved; }  ///< there is something that is in no file of the user's
  const QString& modelName() const { return m_modelName; }
  Session session() const;

  /// Opens a model, plan, engine or session. The model that is open already is only read again: nothing is lost.
  void open(const QString& path, const PlanOptions& options = {}, const std::vector<InputOverride>& inputs = {});
  /// The session that modelMissing() was about, with its model where it is now.
  void locate(const QString& model);
  Status save(const QString& path);

  /// A session that a window left behind when it ended without closing.
  struct Left {
    QString file, model, savedAs, when;
    std::int64_t runs = 0, pins = 0;
  };
  std::vector<Left> left() const;
  void recover(const QString& file);
  void discard(const QString& file);
  /// The user has closed it, saved or not: what was kept by itself goes.
  void close();

 signals:
  void changed();  ///< path(), unsaved()
  void failed(const QString& title, const QString& problem);
  void modelMissing(const QString& session, const QString& model);
  void modelChangedOnDisk(const QString& path);
  void restored(const Json& view);  ///< after PlanDocument::modelChanged()

 private:
  void openSession(const QString& path, bool recovered);
  void restore(Session session, bool modelChanged);
  void modelOpened();
  void begin(const std::string& id);
  void keepSoon();
  void keepNow();
  void checkModel();
  QString keptFile(const QString& id) const;

  PlanDocument& m_document;
  Runs& m_runs;
  RunController& m_controller;
  JobRunner& m_jobs;
  QString m_folder, m_path, m_modelName, m_openModel;
  std::string m_id;
  bool m_unsaved = false;
  std::function<Json()> m_view;
  std::optional<Session> m_pending;  ///< read, its model is being opened
  QString m_pendingPath;
  bool m_pendingUnsaved = false;
  std::unique_ptr<QLockFile> m_lock;
  QTemporaryDir m_scratch;
  QTimer m_keepTimer, m_checkTimer;
  QFileSystemWatcher m_watcher;
};

}  // namespace fusescope
