#pragma once

#include <functional>
#include <map>
#include <memory>

#include "engine/executor.h"
#include "engine/step_kernels.h"
#include "engine/thread_policy.h"

namespace fusescope {

/// What is known about the threads that run one program: the policy, and kernels for fewer threads than the program was
/// lowered for, which are made when they are first tried.
struct AdaptiveThreads {
  int all = 1;
  ThreadPolicy policy{1};
  std::map<int, std::shared_ptr<const StepKernels>> kernels;

  /// Programs whose steps lower or prepare others while they run always run by `threads`.
  static AdaptiveThreads of(const Program& program, int threads, std::optional<double> expectedMs);
};

/// Runs of one executor, each by as many threads as AdaptiveThreads says. The results are the same bytes by any number
/// of threads. One caller at a time.
class AdaptiveRun {
 public:
  using MakeKernels = std::function<Result<StepKernels>(int threads)>;
  /// `makeKernels` makes the kernels for fewer threads. The executor and `threads` must outlive this.
  AdaptiveRun(Executor& executor, AdaptiveThreads& threads, MakeKernels makeKernels)
      : m_executor(executor), m_threads(threads), m_makeKernels(std::move(makeKernels)) {}
  /// As Executor::run().
  Status run(const StopToken& stop, const Executor::StepTimer& timer = nullptr);
  const Program& program() const { return m_executor.program(); }
  /// Whether the last run was done by fewer threads than all.
  bool wasByFewer() const { return m_wasByFewer; }

 private:
  std::shared_ptr<const StepKernels> kernelsFor(int threads);

  Executor& m_executor;
  AdaptiveThreads& m_threads;
  MakeKernels m_makeKernels;
  bool m_wasByFewer = false;
};

}  // namespace fusescope
