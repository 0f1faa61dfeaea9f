#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/engine.h"
#include "tuning/activation_store.h"

namespace fusescope {

/// Runs plans of one model on the same samples, and of each only the fused nodes that no run before did on the same
/// values: fused nodes of equal contracts over equal inputs give equal values. By the backend's best guess of a tactic,
/// so that what comes out depends on no measurement. One caller at a time.
class PlanRunner {
 public:
  using Inputs = std::map<std::string, Tensor>;
  /// `plan`: that the samples are checked against. `names`: what errors of running call them; none: their numbers.
  /// Errors: inputs that the plan does not take.
  static Result<std::unique_ptr<PlanRunner>> create(const Plan& plan, std::vector<Inputs> samples,
                                                    const std::vector<std::string>& names, const BuildOptions& options,
                                                    std::size_t keptBytes);

  /// What the network gives, by output in the graph's order, then by sample; at the model's declared types.
  Result<std::vector<std::vector<Tensor>>> run(const std::shared_ptr<const Plan>& plan);
  /// What ends a run from here on.
  void setStop(StopToken stop) { m_options.stop = std::move(stop); }
  /// The values of `plan` are kept rather than others; `which`: in place of those preferred under this number before.
  void prefer(const Plan& plan, std::size_t which);

  std::int64_t ran() const { return m_ran; }        ///< fused nodes, once for each set of extents
  std::int64_t reused() const { return m_reused; }  ///< fused nodes of runs that did not run
  const ActivationStore& store() const { return m_store; }

 private:
  /// Samples of equal extents.
  struct Round {
    std::map<std::string, Dims> extents;
    std::vector<Inputs> samples;
    std::vector<std::string> names;  ///< of each
  };
  class Run;
  PlanRunner(const BuildOptions& options, std::size_t keptBytes) : m_options(options), m_store(keptBytes) {}

  BuildOptions m_options;
  std::vector<Round> m_rounds;
  ActivationStore m_store;
  std::int64_t m_ran = 0, m_reused = 0;
};

/// All that what a fused node calculates depends on, but the values it reads.
Hash128 contractHash(const Plan& plan, const FusedNode& fused);
/// By ValueId: of how it is calculated, from the inputs on. Equal in two plans of one model: equal values.
std::vector<Hash128> valueHashes(const Plan& plan);
/// Of all outputs together: plans of equal effect give equal numbers.
Hash128 effectOf(const Plan& plan);

}  // namespace fusescope
