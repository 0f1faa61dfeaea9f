#pragma once

#include <QObject>
#include <QString>
#include <functional>
#include <optional>
#include <vector>

#include "ui/document/environment_source.h"
#include "ui/jobs/job_runner.h"

namespace fusescope {

/// An environment of the list, and what is known of it.
struct KnownEnvironment {
  Environment environment;
  bool isAdded = false;                     ///< by the user, who may remove it
  bool isOfSession = false;                 ///< the session that is open names it
  bool isConfirmed = false;                 ///< its command may be started on this machine
  bool isLookedAt = false;                  ///< somebody is looking right now
  std::optional<FoundEnvironment> found{};  ///< nothing: not known yet
};

/// The environments in which compilers are looked for, and what was found in each. Lives in the GUI thread and never
/// waits: its work has threads of its own, since an environment may take long to answer.
class Environments : public QObject {
  Q_OBJECT

 public:
  /// `source` outlives this.
  explicit Environments(const EnvironmentSource& source = environmentsOfMachine(), QObject* parent = nullptr);

  /// Lists the environments and looks into those whose command is confirmed, the first time that somebody asks.
  void ask();
  /// Those that the session names by their commands, which may be of another machine: none is started before the user
  /// has confirmed it.
  void setOfSession(std::vector<Environment> environments);
  /// Lists them anew and looks into all of them again.
  void askAgain();
  const std::vector<KnownEnvironment>& all() const { return m_all; }
  const KnownEnvironment* find(const std::string& name) const;
  bool isListing() const { return m_isListing; }
  /// Why the user's own environments are not in the list; empty: they are.
  const QString& problem() const { return m_problem; }

  /// Looks into one again.
  void lookAgain(const std::string& name);
  /// The user has read the command of this one and lets it be started.
  void confirm(const std::string& name);
  void remove(const std::string& name);

  /// Looks into an environment that is not in the list, once the user has agreed to start its command: that is noted.
  /// `done` is told what was found, unless it is cancelled or asked for another one first.
  using Tried = std::function<void(const Result<FoundEnvironment>& found)>;
  void tryNew(const Environment& environment, QObject* receiver, Tried done);
  void cancelNew();
  /// Adds one that the user tried, or replaces the one of its name.
  void add(const Environment& environment, const std::optional<FoundEnvironment>& found);

 signals:
  void changed();
  void failed(const QString& problem);  ///< of what the user asked for
  void renewed();                       ///< the list is another, or something was looked at again

 private:
  void list(bool afresh);
  void look(KnownEnvironment& known, bool afresh);
  KnownEnvironment* known(const std::string& name);
  /// Does `work`, a Status() that changes files, and lists anew.
  void changeList(std::function<Status()> work);

  const EnvironmentSource& m_source;
  bool m_isAsked = false, m_isListing = false;
  QString m_problem;
  std::vector<Environment> m_ofSession;
  std::vector<KnownEnvironment> m_all;
  JobRunner m_jobs;  ///< the last member: it ends first, and waits for what it has under way
};

}  // namespace fusescope
