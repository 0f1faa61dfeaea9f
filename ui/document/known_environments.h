#pragma once

#include <QObject>
#include <QString>
#include <functional>
#include <optional>
#include <vector>

#include "probe/found_environment.h"
#include "ui/document/environment_source.h"
#include "ui/jobs/job_runner.h"

namespace fusescope {

/// An environment in the list, and what is known about it.
struct KnownEnvironment {
  Environment environment;
  bool isAdded = false;                     ///< the user added it, and may remove it
  bool isOfSession = false;                 ///< the open session uses it
  bool isConfirmed = false;                 ///< its command may be started on this machine
  bool isLookedAt = false;                  ///< it is being examined
  std::optional<FoundEnvironment> found{};  ///< nothing: unknown so far
};

/// The environments in which compilers are searched for, and what was found in each. It is used on the GUI thread and
/// never blocks: its work runs on other threads, because an environment may take long to answer.
class Environments : public QObject {
  Q_OBJECT

 public:
  /// `source` must outlive this.
  explicit Environments(const EnvironmentSource& source = environmentsOfMachine(), QObject* parent = nullptr);

  /// On the first call, lists the environments and examines those with confirmed commands.
  void ask();
  /// Sets the environments that the session uses, by their commands. They may be from another machine, so that none is
  /// started before the user has confirmed it.
  void setOfSession(std::vector<Environment> environments);
  /// Lists the environments again and examines all of them.
  void askAgain();
  const std::vector<KnownEnvironment>& all() const { return m_all; }
  const KnownEnvironment* find(const std::string& name) const;
  bool isListing() const { return m_isListing; }
  /// Returns why the user's own environments are not in the list; empty if they are.
  const QString& problem() const { return m_problem; }

  /// Examines one environment again.
  void lookAgain(const std::string& name);
  /// Records that the user has read the command of this environment and allows it to be started.
  void confirm(const std::string& name);
  void remove(const std::string& name);

  /// Examines an environment that is not in the list, after the user has agreed to start its command, which is
  /// recorded. `done` receives what was found, unless this is cancelled or another environment is tried first.
  using Tried = std::function<void(const Result<FoundEnvironment>& found)>;
  void tryNew(const Environment& environment, QObject* receiver, Tried done);
  void cancelNew();
  /// Adds an environment that the user tried, or replaces the one of that name.
  void add(const Environment& environment, const std::optional<FoundEnvironment>& found);

 signals:
  void changed();
  void failed(const QString& problem);  ///< for something that the user asked for
  void renewed();                       ///< the list has changed, or an environment was examined again

 private:
  void list(bool afresh);
  void look(KnownEnvironment& known, bool afresh);
  KnownEnvironment* known(const std::string& name);
  /// Runs `work`, a function without arguments that changes files and returns a Status, and then lists the environments
  /// again.
  void changeList(std::function<Status()> work);

  const EnvironmentSource& m_source;
  bool m_isAsked = false, m_isListing = false;
  QString m_problem;
  std::vector<Environment> m_ofSession;
  std::vector<KnownEnvironment> m_all;
  JobRunner m_jobs;  ///< the last member, so that it is destroyed first and waits for its jobs
};

}  // namespace fusescope
