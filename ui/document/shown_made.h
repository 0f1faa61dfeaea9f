#pragma once

#include <QObject>
#include <QString>
#include <memory>
#include <string>

#include "ui/document/runs.h"

namespace fusescope {

class BackgroundBuilds;
class JobRunner;

/// Puts on screen what another compiler made of the plan there: while a run that tells it is the shown one, what that
/// tells; else what a background build found out; else the plan. Lives in the GUI thread; reads elsewhere.
class ShownMade : public QObject {
  Q_OBJECT

 public:
  /// `builds`: those in the background; null: there are none.
  ShownMade(PlanDocument& document, Runs& runs, JobRunner& jobs, const BackgroundBuilds* builds = nullptr,
            QObject* parent = nullptr);
  /// Whose kernels are on screen: "kernels as onnxruntime 1.20 made them (run 3)", "… (built in the background)";
  /// empty: those of our own plan.
  QString words() const;

 signals:
  void failed(const QString& problem);  ///< what a run says that was made does not fit the plan

 private:
  void follow();

  /// What is to be shown, and of what.
  struct Wanted {
    SharedOptional<Json> made;
    std::shared_ptr<const Plan> plan;
    std::string run;  ///< empty: it was built in the background
    bool same(const Wanted& other) const { return made.shares(other.made) && plan == other.plan && run == other.run; }
  };
  PlanDocument& m_document;
  Runs& m_runs;
  JobRunner& m_jobs;
  const BackgroundBuilds* m_builds;
  Wanted m_wanted;
};

}  // namespace fusescope
