#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "session/model_file.h"
#include "session/run.h"
#include "session/session.h"

namespace fusescope {

/// The network that is open, which a run may be of.
struct OpenNetwork {
  std::shared_ptr<const Model> model;
  ModelFile file;
  std::vector<InputOverride> extents;          ///< that `model` has
  std::shared_ptr<const Plan> plan = nullptr;  ///< of `model`: what is alike in the plan of a run is not made again
};

/// What of a run says which plan it is of.
struct PlannedRun {
  explicit PlannedRun(const Run& run);
  std::string id;
  RunKind kind = RunKind::Plan;
  std::string model;  ///< ModelFile::identity()
  PlanOptions options;
  std::vector<InputOverride> extents;
  std::string backend;
  std::string enginePath;  ///< of an engine that was built; empty: there is none, or not yet
  SharedOptional<Json> made;
  /// Whether both are of the same plan: quick, since what a compiler made is not read.
  bool sameAs(const PlannedRun& other) const;
};

/// What another compiler made, as a run keeps it (Run::made), over the plan that the compiler was asked for. That plan
/// may have other segments than `plan`: a compiler may refuse nodes only when it compiles them. Any thread. Errors:
/// `json` is no such thing, or is of another network.
Result<std::shared_ptr<const ReadBackPlan>> readMade(const Json& json, std::shared_ptr<const Plan> plan,
                                                     std::shared_ptr<const Model> model);

/// What a run is of: its engine file while that is there, which says what ran; else `model` planned by the options of
/// the run again, with what its compiler said that it made. `model` has the extents of the run; it may be null for a
/// run of an engine file alone. `alike` is a plan of `model` or null. Any thread. Errors: the plan cannot be made, an
/// engine file that no model stands behind cannot be opened, or the run is a comparison, which has no plan.
Result<Artifact> artifactOf(const PlannedRun& run, std::shared_ptr<const Model> model, const StopToken& stop = {},
                            const Plan* alike = nullptr);

/// Keeps the plans of runs, so that each is made once for all that show it. Thread-safe: whoever asks for a run whose
/// plan is being made waits for it.
class RunPlans {
 public:
  /// The plan of `run`. The network is opened again where the run has other extents than `network`. Errors: those of
  /// artifactOf(), and that the run was made of another network. Errors are not kept.
  Result<std::shared_ptr<const Artifact>> find(const PlannedRun& run, const OpenNetwork& network,
                                               const StopToken& stop = {});
  /// Lets go of the plan of one run, or of all.
  void forget(const std::string& run);
  void clear();

 private:
  struct Entry {
    explicit Entry(const PlannedRun& planned) : run(planned) {}
    PlannedRun run;
    std::mutex making;  ///< held while the plan is made
    std::shared_ptr<const Artifact> artifact;
  };
  std::shared_ptr<Entry> entryOf(const PlannedRun& run);

  std::mutex m_mutex;  ///< for the map alone
  std::map<std::string, std::shared_ptr<Entry>> m_entries;
};

}  // namespace fusescope
