#pragma once

#include <list>
#include <set>

#include "engine/engine.h"
#include "engine/kernels/output_memory.h"
#include "engine/program/adaptive_run.h"
#include "engine/program/executor.h"
#include "engine/steps/body_profile.h"
#include "engine/steps/program_update.h"
#include "engine/tactics/tactic_chooser.h"

namespace fusescope {

/// How long a build measures tactics.
enum class Measuring { AtLength, Briefly };

/// The Engine of our own compiler. Engine says which methods may be called from which thread.
class BuiltEngine final : public Engine {
 public:
  /// Builds an engine for the extents of `options`. `replay` contains the tactics of an engine file, or is empty.
  static Result<std::unique_ptr<BuiltEngine>> build(std::shared_ptr<const Plan> plan, const BuildOptions& options,
                                                    TacticsByIdentity replay,
                                                    Measuring measuring = Measuring::AtLength);

  /// Adopts the measured times of the chosen tactics, as far as this engine has none, in order to estimate how long a
  /// run should take.
  void noteTimes(const std::vector<TacticChoice>& tactics);

  const Plan& plan() const override { return *m_plan; }
  std::shared_ptr<const Cover> made() const override { return m_plan; }
  const BuildReport& report() const override { return m_report; }
  const std::string& backend() const override { return m_plan->target.acceleratedBackend; }
  int threads() const override { return m_threads; }
  Result<RunResult> run(const std::map<std::string, Tensor>& inputs, const std::vector<std::string>& mark,
                        const StopToken& stop) override;
  Result<TimeReport> time(const std::map<std::string, Tensor>& inputs, const TimeOptions& options) override;
  Status save(const std::filesystem::path& path) const override;
  std::shared_ptr<const MemoryTimeline> memory() const override;
  /// Returns the weights of all programs that are prepared.
  PackedSet weights() const;

 private:
  /// What a program is specialised by.
  struct Key {
    std::map<std::string, Dims> extents;
    std::set<ValueId> marks;
    bool operator==(const Key&) const = default;
  };
  struct Specialisation {
    Key key;
    std::shared_ptr<Program> program;
    Executor executor;
    std::optional<PlanExtents::Numbers> numbers;  ///< of m_update, where the extents are among those it may take
    AdaptiveThreads threads{};
    bool isPacked = false;  ///< all of its weights are
  };

  /// An engine for extents that the plan's conditions leave out.
  struct Exception {
    std::map<std::string, Dims> extents;
    std::unique_ptr<BuiltEngine> engine;
  };

  BuiltEngine(std::shared_ptr<const Plan> plan, const BuildOptions& options);
  Status prepare(TacticsByIdentity replay, Measuring measuring);
  Status packWeights();
  Result<Specialisation*> specialisation(Key key, const StopToken& stop);
  AdaptiveThreads threadsOf(const Program& program, const std::map<std::string, Dims>& extents) const;
  std::optional<double> expectedMs(const Program& program) const;
  AdaptiveRun runOf(Specialisation& made);
  /// Returns whether these extents are prepared for, or can be by m_update, so that no condition of the plan is broken.
  bool areCovered(const std::map<std::string, Dims>& extents);
  /// PlanExtents::numbersFor() of m_update, worked out once for extents that are asked for again and again.
  const std::optional<PlanExtents::Numbers>& numbersFor(const std::map<std::string, Dims>& extents);
  /// Changes an existing specialisation to these extents and removes the old one if there are too many. Returns false
  /// if a new one must be lowered.
  bool respecialise(const Key& key);
  void prepareUpdate();
  void keep(Specialisation specialisation);
  /// Returns the engine that runs these extents instead of this one, because the types of the plan are wrong for them;
  /// null if they are right.
  Result<BuiltEngine*> exceptionFor(const std::map<std::string, Dims>& extents, const StopToken& stop);
  Result<std::set<ValueId>> resolveMarks(const std::vector<std::string>& mark) const;
  std::vector<Tensor> orderedInputs(const std::map<std::string, Tensor>& inputs) const;
  std::vector<Tensor> outputTensors(const Program& program);

  std::shared_ptr<const Plan> m_asked;  ///< the plan as the caller gave it, which engine files contain
  std::shared_ptr<const Plan> m_plan;   ///< as it is run, by the backend of the options
  BuildOptions m_options;
  int m_threads = 1;
  std::map<std::string, Dims> m_extents;  ///< that the build was for
  BuildReport m_report;
  std::map<Hash128, double> m_kernelMs;  ///< of fused nodes, by FusedNode::identity
  BodyProfile m_bodyProfile;
  std::optional<TacticChooser> m_chooser;
  OutputMemory m_outputMemory;
  std::shared_ptr<ArenaMemory> m_arenas = std::make_shared<ArenaMemory>();  ///< of all specialisations
  /// The last arguments and result of numbersFor().
  struct Met {
    std::map<std::string, Dims> extents;
    std::optional<PlanExtents::Numbers> numbers;
  } m_met;
  std::unique_ptr<ProgramUpdate> m_update;      ///< none: what follows from extents is not proved, or not yet
  bool m_updateTried = false;                   ///< whether prepareUpdate() was tried
  std::list<Specialisation> m_specialisations;  ///< the latest used first
  std::list<Exception> m_exceptions;            ///< the latest used first
};

}  // namespace fusescope
