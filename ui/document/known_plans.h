#pragma once

#include <QObject>
#include <QString>
#include <memory>
#include <vector>

#include "ui/document/background_builds.h"

namespace fusescope {

class JobRunner;

/// What a compiler made of the network of the session, and where that is known from.
struct KnownPlan {
  std::shared_ptr<const ReadBackPlan> made;
  std::string run;               ///< its id; empty: a background build
  SharedOptional<RunTime> time;  ///< what the run measured; none: it did not
  bool ofThisPlan = false;       ///< it was made of the plan that is on screen or predicted there
  QString title() const;         ///< "onnxruntime 1.20 · run 3"
};

/// All that the session knows of what other compilers made of the network: by its runs, the newest of each plan and
/// compiler, and by the background build of the plan on screen. They are read off the GUI thread once somebody asks.
/// GUI thread only.
class KnownPlans : public QObject {
  Q_OBJECT

 public:
  static constexpr std::size_t kMost = 6;  ///< so many are known at a time

  KnownPlans(PlanDocument& document, Runs& runs, const BackgroundBuilds& builds, JobRunner& jobs,
             QObject* parent = nullptr);
  /// Has those read that are not read yet; changed() follows if there are such ones.
  void ask();
  /// Those that are read by now: of the plan on screen first, then the newest first.
  std::vector<KnownPlan> all() const;

 signals:
  void changed();

 private:
  /// Where one is known from.
  struct Source {
    SharedOptional<Json> made;
    const Run* run = nullptr;  ///< null: a background build
  };
  /// What was read of a source; null: it cannot be read.
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

/// What a run measured for a kernel that it is of, in one inference; nothing: it did not.
std::optional<double> measuredMs(const RunTime& time, const FusedNode& fused);

}  // namespace fusescope
