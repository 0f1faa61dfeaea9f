#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/engine.h"
#include "tuning/activation_store.h"

namespace fusescope {

/// Runs plans of one model on the same samples. Of each plan, it runs only the fused nodes that no earlier run has run
/// on the same values: fused nodes with equal contracts and equal inputs give equal values. It uses the tactic that the
/// backend guesses to be the best, so that results do not depend on measurements. Not thread-safe.
class PlanRunner {
 public:
  using Inputs = std::map<std::string, Tensor>;
  /// `plan` is used to check the samples. `names` are the names of the samples in errors; if it is empty, their numbers
  /// are used. It is an error if the plan does not accept the inputs.
  static Result<std::unique_ptr<PlanRunner>> create(const Plan& plan, std::vector<Inputs> samples,
                                                    const std::vector<std::string>& names, const BuildOptions& options,
                                                    std::size_t keptBytes);

  /// Returns the outputs of the network, by output in the graph's order and then by sample, in the model's declared
  /// types.
  Result<std::vector<std::vector<Tensor>>> run(const std::shared_ptr<const Plan>& plan);
  /// Sets the token that stops later runs.
  void setStop(StopToken stop) { m_options.stop = std::move(stop); }
  /// Stores the values of `plan` in preference to others. They replace those that were preferred under the number
  /// `which` before.
  void prefer(const Plan& plan, std::size_t which);

  std::int64_t ran() const { return m_ran; }  ///< number of fused nodes that were run; once for each set of extents
  std::int64_t reused() const { return m_reused; }  ///< number of fused nodes of runs that did not have to run
  const ActivationStore& store() const { return m_store; }

 private:
  /// Samples of equal extents.
  struct Round {
    std::map<std::string, Dims> extents;
    std::vector<Inputs> samples;
    std::vector<std::string> names;  ///< one per sample
  };
  class Run;
  PlanRunner(const BuildOptions& options, std::size_t keptBytes) : m_options(options), m_store(keptBytes) {}

  BuildOptions m_options;
  std::vector<Round> m_rounds;
  ActivationStore m_store;
  std::int64_t m_ran = 0, m_reused = 0;
};

/// Hashes everything on which the result of a fused node depends, except the values that it reads.
Hash128 contractHash(const Plan& plan, const FusedNode& fused);
/// Returns, by ValueId, a hash of how each value is calculated from the inputs. If the hashes are equal in two plans of
/// one model, the values are equal.
std::vector<Hash128> valueHashes(const Plan& plan);
/// Returns a hash of all outputs. Plans with equal hashes give equal numbers.
Hash128 effectOf(const Plan& plan);

}  // namespace fusescope
