#pragma once

#include <functional>
#include <map>
#include <memory>

#include "engine/program/executor.h"
#include "engine/program/step_kernels.h"
#include "engine/program/thread_policy.h"

namespace fusescope {

/// The state of the adaptive number of threads of one program: the policy, and the kernels for fewer threads than the
/// program was lowered for. Such kernels are made when they are first tried.
struct AdaptiveThreads {
  int all = 1;
  ThreadPolicy policy{1};
  std::map<int, std::shared_ptr<const StepKernels>> kernels;

  /// Makes the state for `program`, which was lowered for `threads` threads. Programs whose steps lower or prepare
  /// other programs while they run always use all `threads`. `expectedMs` is how long a run should take, if that is
  /// known.
  static AdaptiveThreads of(const Program& program, int threads, std::optional<double> expectedMs);
};

/// Runs one executor with the number of threads that AdaptiveThreads determines for each run. The results are the same
/// bytes for every number of threads. It may be used by one caller at a time.
class AdaptiveRun {
 public:
  using MakeKernels = std::function<Result<StepKernels>(int threads)>;
  /// `makeKernels` makes the kernels for fewer threads. The executor and `threads` must outlive this.
  AdaptiveRun(Executor& executor, AdaptiveThreads& threads, MakeKernels makeKernels)
      : m_executor(executor), m_threads(threads), m_makeKernels(std::move(makeKernels)) {}
  /// Runs the program once; see Executor::run().
  Status run(const StopToken& stop, const Executor::StepTimer& timer = nullptr);
  const Program& program() const { return m_executor.program(); }
  /// Returns whether the last run used fewer threads than all.
  bool wasByFewer() const { return m_wasByFewer; }

 private:
  std::shared_ptr<const StepKernels> kernelsFor(int threads);

  Executor& m_executor;
  AdaptiveThreads& m_threads;
  MakeKernels m_makeKernels;
  bool m_wasByFewer = false;
};

}  // namespace fusescope
