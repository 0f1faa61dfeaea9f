#include "engine/program/adaptive_run.h"

#include <algorithm>
#include <chrono>

#include "backends/threads.h"
#include "base/elapsed.h"

namespace fusescope {

AdaptiveThreads AdaptiveThreads::of(const Program& program, int threads, std::optional<double> expectedMs) {
  AdaptiveThreads made{.all = threads, .policy = ThreadPolicy(threads, expectedMs), .kernels = {}};
  const auto makesOthers = [](const Step& step) { return step.body != nullptr || step.dynamic != nullptr; };
  if (std::ranges::any_of(program.steps, makesOthers)) made.policy.cannotTry();
  return made;
}

/// Returns the kernels for this number of threads, or null if they cannot be prepared.
std::shared_ptr<const StepKernels> AdaptiveRun::kernelsFor(int threads) {
  std::shared_ptr<const StepKernels>& kernels = m_threads.kernels[threads];
  if (kernels != nullptr) return kernels;
  auto made = m_makeKernels(threads);
  if (made.ok()) kernels = std::make_shared<const StepKernels>(std::move(made).value());
  return kernels;
}

Status AdaptiveRun::run(const StopToken& stop, const Executor::StepTimer& timer) {
  ThreadPolicy& policy = m_threads.policy;
  setThreads(policy.threads());  // code that is compiled here is compiled for this number of threads
  if (policy.threads() < m_threads.all && kernelsFor(policy.threads()) == nullptr) policy.cannotTry();
  const int threads = policy.threads();
  m_wasByFewer = threads < m_threads.all;
  setThreads(threads);
  m_executor.useKernels(m_wasByFewer ? kernelsFor(threads) : nullptr);
  const auto start = std::chrono::steady_clock::now();
  TRY(m_executor.run(stop, timer));
  m_threads.policy.ran(msSince(start));
  return Done{};
}

}  // namespace fusescope
