#pragma once

#include <QObject>
#include <QString>
#include <memory>

#include "diff/plan_diff.h"
#include "session/session.h"
#include "ui/document/plan_snapshot.h"

namespace fusescope {

class JobRunner;
class PlanDocument;
class Runs;

/// A file's plan (A) and the plan on screen (B), with what differs between them and why. Const once made.
struct ComparedPlans {
  Artifact file;  ///< its plan outlives the diff
  std::shared_ptr<const PlanSnapshot> screen;
  PlanDiff diff;
  PlanDelta delta;            ///< from the file to the screen
  std::string droppedWishes;  ///< for people: directives of the plan on screen that the file's network cannot take
};

/// Compares the plan on screen with another plan, engine, network or session. Follows the plan on screen: whenever that
/// changes, it compares again. Lives in the GUI thread; files are opened, and plans compared, elsewhere.
class FileDiff : public QObject {
  Q_OBJECT

 public:
  /// How a file that holds a network alone is planned.
  enum class Wishes {
    OfScreen,  ///< for the same target, types and directives, as far as they apply
    None       ///< for the same target in float32
  };

  FileDiff(PlanDocument& document, Runs& runs, JobRunner& jobs, QObject* parent = nullptr);

  void compare(const QString& path, Wishes wishes);
  /// No file is compared with any more.
  void close();

  const QString& path() const { return m_path; }  ///< empty: none
  bool busy() const { return m_busy; }
  /// Null while there is none: none is asked for, it is being made, or problem() says why not.
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
  Wishes m_wishes = Wishes::OfScreen;
  bool m_busy = false;
  std::shared_ptr<const ComparedPlans> m_compared;
};

}  // namespace fusescope
