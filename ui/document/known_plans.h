#pragma once

#include <QObject>
#include <QString>
#include <memory>
#include <vector>

#include "ui/document/background_builds.h"

namespace fusescope {

class JobRunner;

/// What a compiler made of the session's network, and where this is known from.
struct KnownPlan {
  std::shared_ptr<const ReadBackPlan> made;
  std::string run;               ///< id of the run; empty: a background build
  SharedOptional<RunTime> time;  ///< the times of the run; nothing: it was not timed
  bool ofThisPlan = false;       ///< it was made from the displayed or predicted plan
  QString title() const;         ///< "onnxruntime 1.20 · run 3"
};

/// Everything that the session knows about what other compilers made of the network: from its runs, the latest for each
/// plan and compiler, and from the background build of the displayed plan. It is read off the GUI thread when it is
/// first needed. It is used on the GUI thread only.
class KnownPlans : public QObject {
  Q_OBJECT

 public:
  static constexpr std::size_t kMost = 6;  ///< the largest number that is kept

  KnownPlans(PlanDocument& document, Runs& runs, const BackgroundBuilds& builds, JobRunner& jobs,
             QObject* parent = nullptr);
  /// Reads those that are not read yet; changed() follows if there are any.
  void ask();
  /// Returns those that are read: of the displayed plan first, then the latest first.
  std::vector<KnownPlan> all() const;

 signals:
  void changed();

 private:
  /// The source of a plan.
  struct Source {
    SharedOptional<Json> made;
    const Run* run = nullptr;  ///< null for a background build
  };
  /// The contents of a source; null if it cannot be read.
  struct Read {
    SharedOptional<Json> of;
    std::shared_ptr<const ReadBackPlan> made;
  };

  std::vector<Source> sources() const;
  const Read* find(const SharedOptional<Json>& made) const;

  PlanDocument& m_document;
  Runs& m_runs;
  const BackgroundBuilds& m_builds;
  JobRunner& m_jobs;
  std::vector<Read> m_read;
};

/// Returns the time that a run measured for one of its kernels, in one inference; nothing if it was not measured.
std::optional<double> measuredMs(const RunTime& time, const FusedNode& fused);

}  // namespace fusescope
