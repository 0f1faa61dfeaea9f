#pragma once

#include <optional>
#include <span>
#include <vector>

#include "backends/backend.h"
#include "base/result.h"
#include "base/stop.h"
#include "engine/kernel.h"

namespace fusescope {

/// Fills a tensor's bytes with plausible values: floats in [-1, 1], zeros for integers (an index is then in range).
void fillPlausible(const TensorDesc& desc, std::byte* bytes);

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
  double msEach = 40;   ///< of runs, for each kernel that is not clearly slower than another
  int leastRounds = 4;  ///< for those as well that take longer
  int mostRounds = 60;
  double precision = 0.02;  ///< a spread that is good enough, where others are not nearer
};

/// The times of kernels that do the same, on plausible data: in rounds in which each runs once, so that a busy moment
/// hits all alike and none finds its data in the caches only because it ran before. One that is clearly slower than the
/// best is not run further; the others are until their times part or the budget ends. Nothing for a kernel that fails
/// on such data. Errors: cancellation.
Result<std::vector<std::optional<KernelTime>>> measureKernels(std::span<const MeasuredKernel> kernels,
                                                              const MeasureBudget& budget = {},
                                                              const StopToken& stop = {});

}  // namespace fusescope
