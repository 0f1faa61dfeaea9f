#include "engine/tactics/measurer.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>

#include "backends/number_checks.h"
#include "backends/thread_team.h"
#include "backends/threads.h"
#include "base/aligned_memory.h"
#include "base/elapsed.h"
#include "engine/description/described_model.h"
#include "engine/tactics/measured_data.h"

namespace fusescope {
namespace {

constexpr double kFastShare = 0.2;   // of the samples, which a time is taken from
constexpr double kConfidence = 1.3;  // standard deviations
constexpr std::size_t kFewestThatAgree = 3;
constexpr double kQuietMedian = 1.25;        // times the time of a quiet machine
constexpr double kMuchSlower = 3;            // than the best, after two runs: not worth a third
constexpr double kHopeless = 6;              // times the best, after one run: not worth a second
constexpr double kSpreadOfMuchSlower = 0.5;  // of what is: at least 1.5 times the best, if it is off by that much
constexpr double kSlower = 1.5;              // than the best: taken for no format's sake
constexpr double kSlowerInSameFormats = 1.1;
constexpr double kDisturbed = 0.02;  // share of a run that its threads waited
constexpr std::chrono::microseconds kShortestPause{500}, kLongestPause{8000};
constexpr std::size_t kPage = 4096, kLine = 64;  // bytes
constexpr std::size_t kMostPlaces = 64;          // of the operands
constexpr long kLeastOwnCache = 512 * 1024;      // bytes, where the machine does not say
constexpr std::int64_t kPatternElements = 4096;

/// A short run of values in [-1, 1] that repeats through a tensor.
Tensor floatPattern(DataType type) {
  return differingFloats({kPatternElements}).converted(type);
}

/// More than the cores' own caches hold, in bytes: what lies so far back is not in them.
std::size_t beyondOwnCaches() {
  const long own = ::sysconf(_SC_LEVEL2_CACHE_SIZE);
  return 2 * static_cast<std::size_t>(std::max(own, kLeastOwnCache)) * static_cast<std::size_t>(hardwareThreads());
}

/// Memory that the kernels share: they run one after the other on data of the same size. Each run finds its operands
/// elsewhere, so far from where they were that the cores' own caches do not hold them, as in a program, where other
/// kernels have run since; and at other addresses within a page, which make some kernels faster or slower.
class Operands {
 public:
  /// `nowMs` tells the time.
  Operands(std::span<const MeasuredKernel> kernels, const std::function<double()>& nowMs) : m_nowMs(nowMs) {
    std::size_t scratch = 0;
    for (const MeasuredKernel& measured : kernels) {
      for (std::size_t i = 0; i < measured.inputs.size(); ++i) hold(m_inputs, i, measured.inputs[i]);
      for (std::size_t i = 0; i < measured.outputs.size(); ++i) hold(m_outputs, i, measured.outputs[i]);
      scratch = std::max(scratch, measured.kernel->workspaceBytes());
      static_cast<void>(measured.kernel->packWeights());  // an error is that of each of its runs as well
    }
    m_scratch = AlignedMemory(scratch);
    std::size_t all = 1;
    for (const auto* operands : {&m_inputs, &m_outputs})
      for (const Operand& operand : *operands) all += operand.bytes;
    m_places = std::clamp<std::size_t>(beyondOwnCaches() / all, 1, kMostPlaces);
    for (Operand& operand : m_inputs) allocate(operand);
    for (Operand& operand : m_outputs) allocate(operand);
    m_in.resize(m_inputs.size());
    m_out.resize(m_outputs.size());
  }

  /// Milliseconds of one run; nothing if it fails.
  std::optional<double> run(const MeasuredKernel& measured) {
    move();
    const double start = m_nowMs();
    const Status status = measured.kernel->run(std::span(m_in).first(measured.inputs.size()),
                                               std::span(m_out).first(measured.outputs.size()), m_scratch.data());
    return status.ok() ? std::optional(m_nowMs() - start) : std::nullopt;
  }

 private:
  struct Operand {
    TensorDesc desc;
    std::size_t bytes = 0;
    AlignedMemory memory;  ///< for each place whole pages and one more
  };
  static void hold(std::vector<Operand>& all, std::size_t i, const TensorDesc& desc) {
    if (i == all.size()) all.push_back({});
    if (const std::size_t bytes = desc.bytes(); bytes > all[i].bytes) {
      all[i].desc = desc;
      all[i].bytes = bytes;
    }
  }
  static std::size_t stride(const Operand& operand) { return (operand.bytes / kPage + 2) * kPage; }
  void allocate(Operand& operand) const {
    const std::size_t bytes = stride(operand) * m_places;
    operand.memory = AlignedMemory(bytes);
    fillPlausible(operand.desc.dtype, {operand.memory.data(), bytes});
  }
  void move() {
    ++m_runs;
    std::size_t line = m_runs * 5;
    for (std::size_t i = 0; i < m_in.size(); ++i) m_in[i] = at(m_inputs[i], line += 11);
    for (std::size_t i = 0; i < m_out.size(); ++i) m_out[i] = at(m_outputs[i], line += 23);
  }
  std::byte* at(const Operand& operand, std::size_t line) const {
    return operand.memory.data() + m_runs % m_places * stride(operand) + line * kLine % kPage;
  }

  const std::function<double()>& m_nowMs;
  std::vector<Operand> m_inputs, m_outputs;
  AlignedMemory m_scratch;
  std::size_t m_places = 1, m_runs = 0;
  std::vector<const std::byte*> m_in;
  std::vector<std::byte*> m_out;
};

std::vector<MemoryFormat> formatsOf(const MeasuredKernel& measured) {
  std::vector<MemoryFormat> formats;
  for (const auto* descs : {&measured.inputs, &measured.outputs})
    for (const TensorDesc& desc : *descs) formats.push_back(desc.format);
  return formats;
}

/// The kernels while they are measured.
class Rounds {
 public:
  Rounds(std::span<const MeasuredKernel> kernels, const MeasureBudget& budget, MeasuredThreads threads)
      : m_kernels(kernels),
        m_budget(budget),
        m_threads(std::move(threads)),
        m_operands(kernels, m_threads.nowMs),
        m_candidates(kernels.size()) {
    for (std::size_t i = 0; i < kernels.size(); ++i) m_candidates[i].formats = formatsOf(kernels[i]);
  }

  Result<std::vector<std::optional<KernelTime>>> run(const StopToken& stop) {
    UncheckedNumbers unchecked;                           // as in programs, which look once for all kernels
    for (std::size_t i = 0; i < m_kernels.size(); ++i) {  // warms up
      TRY(checkStop(stop));
      m_candidates[i].open = m_candidates[i].works = m_operands.run(m_kernels[i]).has_value();
    }
    const double patience =
        std::max(m_budget.patience * m_budget.msEach, m_budget.leastPatienceMs) * static_cast<double>(m_kernels.size());
    const double start = m_threads.nowMs();
    for (int round = 0; anyOpen(); ++round) {
      for (std::size_t k = 0; k < m_kernels.size(); ++k) {
        TRY(checkStop(stop));
        runOnce((k + static_cast<std::size_t>(round)) % m_kernels.size());
      }
      const double passed = m_threads.nowMs() - start;
      const bool isTried = round >= m_budget.leastRounds && std::ranges::all_of(m_candidates, &Candidate::isKnown);
      judge(passed > (isTried ? patience : m_budget.endOfPatience * patience));
    }
    std::vector<std::optional<KernelTime>> times;
    for (const Candidate& candidate : m_candidates)
      times.push_back(candidate.works ? std::optional(candidate.time()) : std::nullopt);
    return times;
  }

 private:
  struct Candidate {
    std::vector<double> quiet, disturbed;  ///< milliseconds of runs
    double spent = 0;                      ///< of the quiet ones
    bool open = true;                      ///< runs in the next round
    bool isGivenUp = false;                ///< each run took much longer than the best
    bool works = true;
    std::vector<MemoryFormat> formats;  ///< of its operands

    bool isKnown() const { return !works || !quiet.empty(); }
    KernelTime time() const {
      if (!quiet.empty()) {
        KernelTime time = timeOf(quiet);
        // Too few to agree, because the others were disturbed: a single one always lies at its own median.
        time.quiet = time.quiet && (quiet.size() >= kFewestThatAgree || disturbed.empty());
        if (isGivenUp) time.spread = std::min(time.spread, kSpreadOfMuchSlower);
        return time;
      }
      KernelTime time = timeOf(disturbed);
      time.ms = *std::ranges::min_element(disturbed);  // each is too much
      time.quiet = false;
      time.spread = 1;
      return time;
    }
  };

  bool anyOpen() const { return std::ranges::any_of(m_candidates, &Candidate::open); }

  void runOnce(std::size_t i) {
    Candidate& candidate = m_candidates[i];
    if (!candidate.open) return;
    const double before = m_threads.waitedMs();
    const auto ms = m_operands.run(m_kernels[i]);
    candidate.open = candidate.works = ms.has_value();
    if (!ms) return;
    if (m_threads.waitedMs() - before <= kDisturbed * *ms) {
      candidate.quiet.push_back(*ms);
      candidate.spent += *ms;
      m_pause = kShortestPause;
      return;
    }
    candidate.disturbed.push_back(*ms);
    m_threads.pause(m_pause);
    m_pause = std::min(2 * m_pause, kLongestPause);
    (void)m_operands.run(m_kernels[i]);  // until all threads are there again
  }

  /// Ends what need not run further: everything, if patience is at its end.
  void judge(bool isLate) {
    std::vector<KernelTime> times(m_candidates.size());
    for (std::size_t i = 0; i < m_candidates.size(); ++i)
      if (m_candidates[i].works && !m_candidates[i].quiet.empty()) times[i] = m_candidates[i].time();
    const std::optional<std::size_t> best = fastest(times);
    if (!best) {
      if (isLate)
        for (Candidate& candidate : m_candidates) candidate.open = false;
      return;
    }
    for (std::size_t i = 0; i < m_candidates.size(); ++i) {
      Candidate& candidate = m_candidates[i];
      if (!candidate.open) continue;
      const double slower = times[i].ms / times[*best].ms;
      candidate.isGivenUp = (candidate.quiet.size() >= 2 && slower > kMuchSlower) || slower > kHopeless;
      const bool isDecided = isNoChoice(*best, i, times) ||
                             (times[i].spread <= m_budget.precisionOfWinner && isOnlyChoice(*best, i, times));
      candidate.open = !isLate && !candidate.isGivenUp && !isDone(candidate, times[i], isDecided);
    }
  }

  std::optional<std::size_t> fastest(std::span<const KernelTime> times) const {
    std::optional<std::size_t> best;
    for (std::size_t i = 0; i < m_candidates.size(); ++i) {
      const bool isTimed = m_candidates[i].works && !m_candidates[i].quiet.empty();
      if (isTimed && (!best || times[i].ms < times[*best].ms)) best = i;
    }
    return best;
  }

  bool areSameFormats(std::size_t a, std::size_t b) const { return m_candidates[a].formats == m_candidates[b].formats; }

  bool isMeasured(std::size_t i) const {
    return m_candidates[i].works && static_cast<int>(m_candidates[i].quiet.size()) >= m_budget.leastRounds;
  }

  /// Returns whether `i` is not chosen in any case: the fastest beats it, or it is not better than an earlier one.
  bool isNoChoice(std::size_t best, std::size_t i, std::span<const KernelTime> times) const {
    if (!isMeasured(i)) return false;
    if (i != best && isBeaten(times[i], times[best], areSameFormats(i, best))) return true;
    for (std::size_t earlier = 0; earlier < i; ++earlier)
      if (isMeasured(earlier) && areSameFormats(i, earlier) && isNoBetter(times[i], times[earlier], m_budget.leastGain))
        return true;
    return false;
  }

  /// Returns whether `i` has rivals, none of which is a choice. Without rivals, only its time is wanted, and the budget
  /// says how exact it has to be.
  bool isOnlyChoice(std::size_t best, std::size_t i, std::span<const KernelTime> times) const {
    bool hasRivals = false;
    for (std::size_t other = 0; other < m_candidates.size(); ++other) {
      const Candidate& candidate = m_candidates[other];
      if (other == i || !candidate.works) continue;
      hasRivals = true;
      if (!candidate.isGivenUp && !isNoChoice(best, other, times)) return false;
    }
    return hasRivals;
  }

  /// `isDecided`: more runs would not change what is chosen.
  bool isDone(const Candidate& candidate, const KernelTime& time, bool isDecided) const {
    const auto rounds = static_cast<int>(candidate.quiet.size());
    if (rounds < m_budget.leastRounds) return false;
    if (rounds >= m_budget.mostRounds || candidate.spent > m_budget.msEach) return true;
    return isDecided || (rounds >= m_budget.fewRounds && time.spread <= m_budget.precision);
  }

  std::span<const MeasuredKernel> m_kernels;
  const MeasureBudget& m_budget;
  MeasuredThreads m_threads;
  std::chrono::microseconds m_pause = kShortestPause;
  Operands m_operands;
  std::vector<Candidate> m_candidates;
};

}  // namespace

void fillPlausible(DataType type, std::span<std::byte> bytes) {
  if (!isFloat(type)) {
    std::ranges::fill(bytes, std::byte{0});
    return;
  }
  const Tensor pattern = floatPattern(type);
  for (std::size_t at = 0; at < bytes.size(); at += pattern.byteSize())
    std::memcpy(bytes.data() + at, pattern.bytes(), std::min(pattern.byteSize(), bytes.size() - at));
}

bool isBeaten(const KernelTime& slower, const KernelTime& faster, bool sameFormats) {
  return slower.least() > faster.most() * (sameFormats ? kSlowerInSameFormats : kSlower);
}

bool isNoBetter(const KernelTime& later, const KernelTime& preferred, double leastGain) {
  return later.least() >= preferred.most() * (1 - leastGain);
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
  time.spread = samples.size() < kFewestThatAgree ? 1 : std::min(width, 1.0);
  time.quiet = time.median <= kQuietMedian * time.ms;
  return time;
}

Result<std::vector<std::optional<KernelTime>>> measureKernels(std::span<const MeasuredKernel> kernels,
                                                              const MeasureBudget& budget, const StopToken& stop,
                                                              MeasuredThreads threads) {
  awaitDescription();
  if (!threads.waitedMs)
    threads = {[team = std::make_shared<const ThreadTeam>()] { return team->waitedMs(); }, &ThreadTeam::pause};
  if (!threads.nowMs) threads.nowMs = [start = std::chrono::steady_clock::now()] { return msSince(start); };
  return Rounds(kernels, budget, std::move(threads)).run(stop);
}

}  // namespace fusescope
