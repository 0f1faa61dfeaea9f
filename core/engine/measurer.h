#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "backends/backend.h"
#include "base/result.h"
#include "base/stop.h"
#include "engine/kernel.h"

namespace fusescope {

/// Fills the bytes of tensors with plausible values: floats in [-1, 1], zeros for integers (an index is then in range).
void fillPlausible(DataType type, std::span<std::byte> bytes);

/// A time whose samples disagree by more than this is no price, and no price is fitted to it.
constexpr double kConfidentSpread = 0.5;

/// A kernel's time, and how far the samples agree about it.
struct KernelTime {
  /// What the fastest fifth of the runs took at most: on a busy machine most runs are off by a time slice of the
  /// scheduler, and the least alone by luck.
  double ms = 0;
  double median = 0;
  double spread = 0;  ///< relative: `ms` is off by at most this, as far as the samples tell
  bool quiet = true;  ///< nothing else wanted the machine: the median is near
  bool operator==(const KernelTime&) const = default;
  double least() const { return ms * (1 - spread); }
  double most() const { return ms * (1 + spread); }
  /// Whether this is faster beyond what the samples leave open.
  bool isClearlyBelow(const KernelTime& other) const { return most() < other.least(); }
};

/// What these samples say. At least one.
KernelTime timeOf(std::vector<double> samples);

/// A kernel with what it is to run on.
struct MeasuredKernel {
  const Kernel* kernel = nullptr;
  std::vector<TensorDesc> inputs, outputs;
};

/// How long measuring may take.
struct MeasureBudget {
  double msEach = 20;   ///< of runs, for each kernel that is not clearly slower than another
  int leastRounds = 4;  ///< for those as well that take longer
  int fewRounds = 16;   ///< before samples that agree are believed
  int mostRounds = 200;
  double precision = 0.01;      ///< a spread that is good enough
  double patience = 4;          ///< times as long as all this takes on a quiet machine, until what there is must do
  double leastPatienceMs = 30;  ///< each: a slice of the scheduler or several, whatever the runs take
};

/// Beside other work that does not end: a rough time soon.
inline constexpr MeasureBudget kBrief{.msEach = 4,
                                      .leastRounds = 2,
                                      .fewRounds = 4,
                                      .mostRounds = 24,
                                      .precision = 0.05,
                                      .patience = 1,
                                      .leastPatienceMs = 4};

/// What measuring asks of the threads that run kernels, those of the caller's parallel regions where `waitedMs` is
/// empty, and what time it is.
struct MeasuredThreads {
  std::function<double()> waitedMs;                        ///< for a processor, so far
  std::function<void(std::chrono::microseconds)> pause{};  ///< lets them sleep
  std::function<double()> nowMs{};                         ///< a clock; the machine's steady one, where it is empty
};

/// The times of kernels that do the same, on plausible data: in rounds in which each runs once, so that a busy moment
/// hits all alike and none finds its data in the caches only because it ran before; the operands lie elsewhere in their
/// pages each time. A run whose threads had to wait for a processor says nothing: it counts only where there are hardly
/// others, and behind it measuring pauses, since who has slept is let run before who has not. One that is clearly
/// slower than the best is not run further; the others are until their samples agree or the budget ends. Nothing for a
/// kernel that fails on such data. `threads`: a ThreadTeam's, where empty. Errors: cancellation.
Result<std::vector<std::optional<KernelTime>>> measureKernels(std::span<const MeasuredKernel> kernels,
                                                              const MeasureBudget& budget = {},
                                                              const StopToken& stop = {}, MeasuredThreads threads = {});

}  // namespace fusescope
