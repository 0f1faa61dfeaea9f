#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "session/artifact.h"
#include "session/model_file.h"
#include "session/open_model.h"
#include "session/runs/run.h"

namespace fusescope {

/// The open network, of which a run may be.
struct OpenNetwork {
  std::shared_ptr<const Model> model;
  ModelFile file;
  std::vector<InputOverride> extents;          ///< the extents of `model`
  std::shared_ptr<const Plan> plan = nullptr;  ///< a plan of `model`, whose parts are reused for the plan of a run
};

/// The part of a run that determines its plan.
struct PlannedRun {
  explicit PlannedRun(const Run& run);
  std::string id;
  RunKind kind = RunKind::Plan;
  std::string model;  ///< ModelFile::identity()
  PlanOptions options;
  std::vector<InputOverride> extents;
  std::string backend;
  std::string enginePath;  ///< an engine that was built; empty: none
  SharedOptional<Json> made;
  /// Returns whether both have the same plan. It is fast, because what a compiler made is not parsed.
  bool sameAs(const PlannedRun& other) const;
};

/// Reads what another compiler made, as a run stores it (Run::made), for the plan that the compiler was asked for. That
/// plan may have other segments than `plan`, because a compiler may refuse nodes only while it compiles. May run on any
/// thread. Errors: `json` has another form, or is of another network.
Result<std::shared_ptr<const ReadBackPlan>> readMade(const Json& json, std::shared_ptr<const Plan> plan,
                                                     std::shared_ptr<const Model> model);

/// Returns the artifact of a run: its engine file if that exists, because it contains what ran; otherwise `model`,
/// planned again with the options of the run, with what its compiler made. `model` has the extents of the run, and may
/// be null for a run of an engine file only. `alike` is a plan of `model` or null. May run on any thread. Errors: the
/// plan cannot be made, an engine file without a model cannot be opened, or the run is a comparison, which has no plan.
Result<Artifact> artifactOf(const PlannedRun& run, std::shared_ptr<const Model> model, const StopToken& stop = {},
                            const Plan* alike = nullptr);

/// Keeps the plans of runs, so that each is made once for everything that shows it. Thread-safe: a caller that asks for
/// a plan that is being made waits for it.
class RunPlans {
 public:
  /// Returns the plan of `run`. The network is opened again if the run has other extents than `network`. Errors: those
  /// of artifactOf(), and that the run was made from another network. Errors are not kept.
  Result<std::shared_ptr<const Artifact>> find(const PlannedRun& run, const OpenNetwork& network,
                                               const StopToken& stop = {});
  /// Deletes the plan of one run, or of all.
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
