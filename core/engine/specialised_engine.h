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

/// A node or value for which two plans of one network have different types.
struct ContractDifference {
  std::string what;  ///< "node 'n'" or "value 'v'"
  DataType general = DataType::Undefined, specialised = DataType::Undefined;
};
/// Returns the first difference between the types of two plans: the type in which a node of both calculates, or the
/// stored type of a value that both write to memory. If it returns nothing, the results agree as far as the types of a
/// plan determine them, and a tolerance depends on nothing else. Bodies are compared too.
std::optional<ContractDifference> differenceInContract(const Plan& general, const Plan& specialised);

/// Plans again for exactly these extents of the inputs, with the same options, pins and types chosen by price;
/// everything that depends only on extents is folded. Errors: those of planning, cancellation.
Result<std::shared_ptr<const Plan>> specialisedPlan(const Plan& general, const std::map<std::string, Dims>& extents,
                                                    const StopToken& stop);

/// The result of building an engine for certain extents.
struct SpecialisedEngine {
  std::unique_ptr<Engine> engine;                ///< null if `difference` is set
  std::int64_t bytes = 0;                        ///< memory that it needs in addition to the general engine
  std::optional<ContractDifference> difference;  ///< why its results would differ from those of the general engine
};
/// Builds such an engine; it is called on a separate thread.
using Specialise =
    std::function<Result<SpecialisedEngine>(const std::map<std::string, Dims>& extents, const StopToken& stop)>;

/// Returns a function that builds specialised engines for `general`, which our own compiler must have built with
/// `options`. They use its threads, share its packed weights, and measure tactics if it did. Errors: another compiler
/// built it. The returned function may outlive `general`.
Result<Specialise> specialiserOf(const Engine& general, const BuildOptions& options);

/// A build on a separate thread with low priority. The destructor cancels the build and waits for its end.
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
