#pragma once

#include <QObject>
#include <QString>
#include <memory>
#include <string>

#include "ui/document/runs.h"

namespace fusescope {

class BackgroundBuilds;
class JobRunner;

/// Displays what another compiler made of the displayed plan: from the displayed run if that contains it, otherwise
/// from a background build; otherwise the plan itself. It is used on the GUI thread, and reads on other threads.
class ShownMade : public QObject {
  Q_OBJECT

 public:
  /// `builds` are the background builds; null: there are none.
  ShownMade(PlanDocument& document, Runs& runs, JobRunner& jobs, const BackgroundBuilds* builds = nullptr,
            QObject* parent = nullptr);
  /// Returns whose kernels are displayed: "kernels as onnxruntime 1.20 made them (run 3)", "… (built in the
  /// background)"; empty for our own plan.
  QString words() const;

 signals:
  void failed(const QString& problem);  ///< what a run contains contradicts the plan

 private:
  void follow();

  /// The read-back plan that is to be shown, and the plan to which it belongs.
  struct Wanted {
    SharedOptional<Json> made;
    std::shared_ptr<const Plan> plan;
    std::string run;  ///< empty if it was built in the background
    bool same(const Wanted& other) const {
      return made.isSameObject(other.made) && plan == other.plan && run == other.run;
    }
  };
  PlanDocument& m_document;
  Runs& m_runs;
  JobRunner& m_jobs;
  const BackgroundBuilds* m_builds;
  Wanted m_wanted;
};

}  // namespace fusescope
