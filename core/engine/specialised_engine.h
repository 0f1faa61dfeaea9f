#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "engine/engine.h"

namespace fusescope {

/// Where two plans of one network calculate or store in other types.
struct ContractDifference {
  std::string what;  ///< "node 'n'" or "value 'v'"
  DataType general = DataType::Undefined, specialised = DataType::Undefined;
};
/// The first difference in what both plans say of types: what each node that is in both calculates in, and what each
/// value that stands in memory in both is stored in. Nothing: their results are alike as far as the types of a plan
/// say, which is all that a tolerance is chosen by. Bodies are compared likewise.
std::optional<ContractDifference> differenceInContract(const Plan& general, const Plan& specialised);

/// `general` made again for just these extents of its inputs: the same options, pins and types chosen by price, and
/// what depends on extents alone is folded. Errors: those of planning, cancellation.
Result<std::shared_ptr<const Plan>> specialisedPlan(const Plan& general, const std::map<std::string, Dims>& extents,
                                                    const StopToken& stop);

/// What became of the wish for an engine for just some extents.
struct SpecialisedEngine {
  std::unique_ptr<Engine> engine;                ///< null: there is a difference
  std::int64_t bytes = 0;                        ///< of memory that the general engine does not have already
  std::optional<ContractDifference> difference;  ///< why it would give other results than the general engine
};
/// Makes one; called on a thread of its own.
using Specialise =
    std::function<Result<SpecialisedEngine>(const std::map<std::string, Dims>& extents, const StopToken& stop)>;

/// Makes specialised engines for `general`, which our own compiler built with `options`: they have its threads, share
/// its packed weights, and measure their tactics where it did. Errors: another compiler built it. What it returns may
/// outlive `general`.
Result<Specialise> specialiserOf(const Engine& general, const BuildOptions& options);

/// Work on a thread of its own, which other threads go before. Destroying it cancels the work and waits for its end.
class BackgroundBuild {
 public:
  /// Errors: no thread can be started.
  static Result<std::unique_ptr<BackgroundBuild>> start(Specialise specialise, std::map<std::string, Dims> extents);
  const std::map<std::string, Dims>& extents() const { return m_extents; }
  bool isOver() const { return m_isOver.load(); }
  /// Waits for the end.
  Result<SpecialisedEngine> take();

 private:
  explicit BackgroundBuild(std::map<std::string, Dims> extents) : m_extents(std::move(extents)) {}

  std::map<std::string, Dims> m_extents;
  std::optional<Result<SpecialisedEngine>> m_result;  ///< written by the thread before m_isOver
  std::atomic<bool> m_isOver = false;
  std::jthread m_thread;  ///< the last member, so that it ends first
};

}  // namespace fusescope
