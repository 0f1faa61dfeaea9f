#pragma once

#include <QObject>
#include <QString>
#include <memory>

#include "diff/plan_diff.h"
#include "session/artifact.h"
#include "ui/document/plan_snapshot.h"

namespace fusescope {

class JobRunner;
class PlanDocument;
class Runs;

/// A file's plan (A) and the displayed plan (B), with the differences and their causes. Const after it is made.
struct ComparedPlans {
  Artifact file;  ///< its plan must outlive the diff
  std::shared_ptr<const PlanSnapshot> screen;
  PlanDiff diff;
  PlanDelta delta;  ///< from the file to the screen
  std::string
      droppedDirectives;  ///< for people: directives of the displayed plan that do not apply to the file's network
};

/// Compares the displayed plan with another plan, engine, network or session, and compares again whenever the displayed
/// plan changes. It is used on the GUI thread; files are opened and plans compared on other threads.
class FileDiff : public QObject {
  Q_OBJECT

 public:
  /// How a file that contains only a network is planned.
  enum class UsedOptions {
    OfScreen,  ///< with the same target, types and directives, as far as they apply
    None       ///< with the same target, in float32
  };

  FileDiff(PlanDocument& document, Runs& runs, JobRunner& jobs, QObject* parent = nullptr);

  void compare(const QString& path, UsedOptions usedOptions);
  /// Ends the comparison with a file.
  void close();

  const QString& path() const { return m_path; }  ///< empty: none
  bool busy() const { return m_busy; }
  /// Returns the comparison; null if there is none: none was requested, it is being made, or problem() says why there
  /// is none.
  std::shared_ptr<const ComparedPlans> compared() const { return m_compared; }
  const QString& problem() const { return m_problem; }

 signals:
  void changed();

 private:
  void renew();

  PlanDocument& m_document;
  Runs& m_runs;
  JobRunner& m_jobs;
  QString m_path, m_problem;
  UsedOptions m_usedOptions = UsedOptions::OfScreen;
  bool m_busy = false;
  std::shared_ptr<const ComparedPlans> m_compared;
};

}  // namespace fusescope
