#include "engine/measurer.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>

#include "base/aligned_memory.h"

namespace fusescope {
namespace {

constexpr double kFastShare = 0.2;     // of the samples, which a time is taken from
constexpr double kConfidence = 1.3;    // standard deviations
constexpr double kQuietMedian = 1.25;  // times the time of a quiet machine
constexpr double kMuchSlower = 3;      // than the best, after two runs: not worth a third
constexpr double kNoNearer = 0.05;     // a lead over the others beyond which nobody asks for more precision
constexpr std::int64_t kPatternElements = 4096;

double millisecondsSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

/// A short run of values in [-1, 1] that repeats through a tensor.
Tensor floatPattern(DataType type) {
  Tensor pattern = Tensor::zeros(DataType::F32, {kPatternElements});
  std::uint32_t state = 0x9e3779b9U;
  for (float& value : pattern.mutableData<float>()) {
    state = state * 1664525U + 1013904223U;
    value = static_cast<float>(state >> 8) / 8388608.0F - 1.0F;
  }
  return pattern.converted(type);
}

/// Memory that the kernels share: they run one after the other on data of the same size.
class Operands {
 public:
  explicit Operands(std::span<const MeasuredKernel> kernels) {
    std::size_t scratch = 0;
    for (const MeasuredKernel& measured : kernels) {
      for (std::size_t i = 0; i < measured.inputs.size(); ++i) hold(m_inputs, i, measured.inputs[i], true);
      for (std::size_t i = 0; i < measured.outputs.size(); ++i) hold(m_outputs, i, measured.outputs[i], false);
      scratch = std::max(scratch, measured.kernel->workspaceBytes());
    }
    m_scratch = AlignedMemory(scratch);
    for (const Operand& operand : m_inputs) m_in.push_back(operand.memory.data());
    for (const Operand& operand : m_outputs) m_out.push_back(operand.memory.data());
  }

  /// Milliseconds of one run; nothing if it fails.
  std::optional<double> run(const MeasuredKernel& measured) {
    const auto start = std::chrono::steady_clock::now();
    const Status status = measured.kernel->run(std::span(m_in).first(measured.inputs.size()),
                                               std::span(m_out).first(measured.outputs.size()), m_scratch.data());
    return status.ok() ? std::optional(millisecondsSince(start)) : std::nullopt;
  }

 private:
  struct Operand {
    AlignedMemory memory;
    std::size_t bytes = 0;
  };
  static void hold(std::vector<Operand>& all, std::size_t i, const TensorDesc& desc, bool isInput) {
    if (i == all.size()) all.push_back({AlignedMemory(0), 0});
    const std::size_t bytes = desc.bytes();
    if (bytes <= all[i].bytes) return;
    all[i] = {AlignedMemory(bytes), bytes};
    if (isInput) fillPlausible(desc, all[i].memory.data());
  }

  std::vector<Operand> m_inputs, m_outputs;
  AlignedMemory m_scratch;
  std::vector<const std::byte*> m_in;
  std::vector<std::byte*> m_out;
};

/// The kernels while they are measured.
class Rounds {
 public:
  Rounds(std::span<const MeasuredKernel> kernels, const MeasureBudget& budget)
      : m_kernels(kernels), m_budget(budget), m_operands(kernels), m_candidates(kernels.size()) {}

  Result<std::vector<std::optional<KernelTime>>> run(const StopToken& stop) {
    for (std::size_t i = 0; i < m_kernels.size(); ++i) {  // warms up
      TRY(checkStop(stop));
      m_candidates[i].open = m_operands.run(m_kernels[i]).has_value();
      m_candidates[i].works = m_candidates[i].open;
    }
    for (int round = 0; round < m_budget.mostRounds && anyOpen(); ++round) {
      for (std::size_t k = 0; k < m_kernels.size(); ++k) {
        TRY(checkStop(stop));
        runOnce((k + static_cast<std::size_t>(round)) % m_kernels.size());
      }
      judge(round + 1);
    }
    std::vector<std::optional<KernelTime>> times;
    for (const Candidate& candidate : m_candidates)
      times.push_back(candidate.works && !candidate.samples.empty() ? std::optional(timeOf(candidate.samples))
                                                                    : std::nullopt);
    return times;
  }

 private:
  struct Candidate {
    std::vector<double> samples;
    double spent = 0;
    bool open = true;  ///< runs in the next round
    bool works = true;
  };

  bool anyOpen() const { return std::ranges::any_of(m_candidates, &Candidate::open); }

  void runOnce(std::size_t i) {
    Candidate& candidate = m_candidates[i];
    if (!candidate.open) return;
    const auto ms = m_operands.run(m_kernels[i]);
    candidate.open = candidate.works = ms.has_value();
    if (!ms) return;
    candidate.samples.push_back(*ms);
    candidate.spent += *ms;
  }

  void judge(int rounds) {
    std::vector<std::optional<KernelTime>> times(m_candidates.size());
    const KernelTime* best = nullptr;
    for (std::size_t i = 0; i < m_candidates.size(); ++i) {
      if (!m_candidates[i].works) continue;
      times[i] = timeOf(m_candidates[i].samples);
      if (best == nullptr || times[i]->ms < best->ms) best = &*times[i];
    }
    bool isDecided = best != nullptr && best->spread <= m_budget.precision;
    for (std::size_t i = 0; i < m_candidates.size(); ++i) {
      Candidate& candidate = m_candidates[i];
      if (!candidate.open) continue;
      const bool isMuchSlower = rounds >= 2 && times[i]->ms > kMuchSlower * best->ms;
      const bool isSlower = rounds >= m_budget.leastRounds && times[i]->least() > best->most() * (1 + kNoNearer);
      const bool isSpent = rounds >= m_budget.leastRounds && candidate.spent > m_budget.msEach;
      if (isMuchSlower || isSlower || isSpent) candidate.open = false;
      if (candidate.open && times[i]->spread > m_budget.precision) isDecided = false;
    }
    // Of one kernel that is left nobody asks more than that its own samples agree.
    if (isDecided && rounds >= m_budget.leastRounds)
      for (Candidate& candidate : m_candidates) candidate.open = false;
  }

  std::span<const MeasuredKernel> m_kernels;
  const MeasureBudget& m_budget;
  Operands m_operands;
  std::vector<Candidate> m_candidates;
};

}  // namespace

void fillPlausible(const TensorDesc& desc, std::byte* bytes) {
  const std::size_t size = desc.bytes();
  if (!isFloat(desc.dtype)) {
    std::memset(bytes, 0, size);
    return;
  }
  const Tensor pattern = floatPattern(desc.dtype);
  for (std::size_t at = 0; at < size; at += pattern.byteSize())
    std::memcpy(bytes + at, pattern.bytes(), std::min(pattern.byteSize(), size - at));
}

// The interval is that of the quantile, by the ranks that a binomial of so many samples leaves open.
KernelTime timeOf(std::vector<double> samples) {
  std::ranges::sort(samples);
  const auto count = static_cast<double>(samples.size());
  const auto at = [&](double rank) {
    const double place = std::clamp(std::ceil(rank) - 1, 0.0, count - 1);
    return samples[static_cast<std::size_t>(place)];
  };
  const double middle = kFastShare * count;
  const double reach = kConfidence * std::sqrt(count * kFastShare * (1 - kFastShare));
  KernelTime time{.ms = at(middle), .median = at(count / 2)};
  if (time.ms <= 0) return time;
  const double width = std::max(at(middle + reach) - time.ms, time.ms - at(middle - reach)) / time.ms;
  time.spread = samples.size() < 3 ? 1 : std::min(width, 1.0);
  time.quiet = time.median <= kQuietMedian * time.ms;
  return time;
}

Result<std::vector<std::optional<KernelTime>>> measureKernels(std::span<const MeasuredKernel> kernels,
                                                              const MeasureBudget& budget, const StopToken& stop) {
  return Rounds(kernels, budget).run(stop);
}

}  // namespace fusescope
