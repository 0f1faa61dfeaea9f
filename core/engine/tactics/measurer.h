#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "backends/backend.h"
#include "base/result.h"
#include "base/stop.h"
#include "engine/kernels/kernel.h"

namespace fusescope {

/// Fills the bytes of a tensor with plausible values: floats in [-1, 1], and zeros for integers, so that an index is in
/// range.
void fillPlausible(DataType type, std::span<std::byte> bytes);

/// A time whose relative spread is larger than this is not used as a price, and not used for fitting prices.
constexpr double kConfidentSpread = 0.5;

/// The time of a kernel, and how well its samples agree.
struct KernelTime {
  /// The upper bound of the fastest fifth of the runs, in milliseconds. On a busy machine most runs are longer by a
  /// time slice of the scheduler, and the fastest run alone is a matter of chance.
  double ms = 0;
  double median = 0;
  double spread = 0;  ///< relative: `ms` is wrong by at most this share, as far as the samples show
  bool quiet = true;  ///< nothing else used the machine, so that the median is close to `ms`
  bool operator==(const KernelTime&) const = default;
  double least() const { return ms * (1 - spread); }
  double most() const { return ms * (1 + spread); }
  /// Returns whether this is faster by more than the uncertainty of the samples.
  bool isClearlyBelow(const KernelTime& other) const { return most() < other.least(); }
};

/// Computes the time from samples in milliseconds, of which there must be at least one.
KernelTime timeOf(std::vector<double> samples);

/// A kernel to measure, with the types and extents of its operands.
struct MeasuredKernel {
  const Kernel* kernel = nullptr;
  std::vector<TensorDesc> inputs, outputs;
};

/// Returns whether `slower` takes so much longer than `faster` that nothing can make it the better choice, as far as
/// the samples show. With the same memory formats, 10 % are enough. With other formats it is half as much again,
/// because the formats may save conversions.
bool isBeaten(const KernelTime& slower, const KernelTime& faster, bool sameFormats);

/// Returns whether `later` cannot take the place of a kernel with the same memory formats that is preferred to it, as
/// far as the samples show: it would have to be faster by the share `leastGain`.
bool isNoBetter(const KernelTime& later, const KernelTime& preferred, double leastGain);

/// Limits how long measuring may take.
struct MeasureBudget {
  double msEach = 20;   ///< total time of runs for each kernel that is not clearly slower than another
  int leastRounds = 4;  ///< minimum number of rounds, also for kernels that take longer
  int fewRounds = 16;   ///< number of rounds before samples that agree are trusted
  int mostRounds = 200;
  double precision = 0.01;          ///< a relative spread that is good enough
  double precisionOfWinner = 0.03;  ///< the same for a kernel that beats all others: its time is only a price then
  double leastGain = 0.03;      ///< a kernel is chosen in place of an earlier one only if it is faster by this share
  double patience = 4;          ///< measuring ends at the latest after this multiple of the time that it takes on a
                                ///< quiet machine
  double leastPatienceMs = 30;  ///< minimum of that limit for each kernel: at least one slice of the scheduler, however
                                ///< short the runs are
  double endOfPatience = 10;    ///< multiple of the patience, for a kernel of which no run was undisturbed yet
};

/// For measuring beside other work that does not end: a rough time, quickly.
inline constexpr MeasureBudget kBrief{.msEach = 4,
                                      .leastRounds = 2,
                                      .fewRounds = 4,
                                      .mostRounds = 24,
                                      .precision = 0.05,
                                      .patience = 1,
                                      .leastPatienceMs = 4};

/// Lets measuring observe and pause the threads that run kernels, and read a clock. If `waitedMs` is empty, the threads
/// of the caller's parallel regions are used.
struct MeasuredThreads {
  std::function<double()> waitedMs;                        ///< returns how long the threads have waited for a processor
                                                           ///< so far
  std::function<void(std::chrono::microseconds)> pause{};  ///< lets the threads sleep
  std::function<double()> nowMs{};                         ///< a clock; empty: the machine's steady clock
};

/// Measures kernels that calculate the same, on plausible data. Each kernel runs once per round, so that a busy moment
/// affects all of them, and none finds its data in the caches only because it ran just before; each run places the
/// operands at other offsets within pages. A run during which threads waited for a processor is used only if there are
/// hardly any others, and measuring then pauses, because the scheduler prefers threads that have slept. A kernel that
/// is clearly slower than the best (isBeaten()), or not better than an earlier one (isNoBetter()), is not run further;
/// the others run until their samples agree or the budget ends. If only one of several kernels is left, it needs only
/// as many runs as show its price. The result is empty for a kernel that fails on such data. If `threads` is empty, a
/// ThreadTeam's are used. Errors: cancellation.
Result<std::vector<std::optional<KernelTime>>> measureKernels(std::span<const MeasuredKernel> kernels,
                                                              const MeasureBudget& budget = {},
                                                              const StopToken& stop = {}, MeasuredThreads threads = {});

}  // namespace fusescope
