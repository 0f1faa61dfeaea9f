#include <algorithm>
#include <chrono>
#include <cmath>
#include <set>

#include "base/text.h"
#include "engine/built_engine.h"

namespace fusescope {
namespace {

using Clock = std::chrono::steady_clock;

/// The machine counts as quiet when 95 of 100 runs take at most this many times the median.
constexpr double kQuietSpread = 1.25;
constexpr std::int64_t kLeastSamples = 5;
constexpr std::size_t kNamedNodes = 3;

double millisecondsBetween(Clock::time_point start, Clock::time_point end) {
  return std::chrono::duration<double, std::milli>(end - start).count();
}

/// The value below which `share` of the sorted samples lie (nearest rank).
double percentile(const std::vector<double>& sorted, double share) {
  const auto rank = static_cast<std::size_t>(std::ceil(share * static_cast<double>(sorted.size())));
  return sorted[std::min(sorted.size(), std::max<std::size_t>(rank, 1)) - 1];
}

double median(std::vector<double> samples) {
  std::ranges::sort(samples);
  const std::size_t middle = samples.size() / 2;
  return samples.size() % 2 == 1 ? samples[middle] : (samples[middle - 1] + samples[middle]) / 2;
}

struct Samples {
  std::vector<double> runs;
  std::vector<std::vector<double>> steps;  ///< per step, if asked for
};

Status runTimed(Executor& executor, Samples& samples, bool perLayer) {
  const Clock::time_point start = Clock::now();
  if (!perLayer) {
    TRY(executor.run({}));
    samples.runs.push_back(millisecondsBetween(start, Clock::now()));
    return Done{};
  }
  Clock::time_point before = start;
  for (std::size_t i = 0; i < samples.steps.size(); ++i) {
    TRY(executor.runStep(i));
    const Clock::time_point after = Clock::now();
    samples.steps[i].push_back(millisecondsBetween(before, after));
    before = after;
  }
  samples.runs.push_back(millisecondsBetween(start, before));
  return Done{};
}

Status warmUp(Executor& executor, const TimeOptions& options) {
  if (options.progress) options.progress("warm_up", "");
  const Clock::time_point start = Clock::now();
  do {
    TRY(executor.run(options.stop));
  } while (millisecondsBetween(start, Clock::now()) < options.warmupSeconds * 1000);
  return Done{};
}

Result<Samples> sample(Executor& executor, const TimeOptions& options) {
  Samples samples;
  if (options.perLayer) samples.steps.resize(executor.program().steps.size());
  if (options.progress) options.progress("measure", "");
  const Clock::time_point start = Clock::now();
  while (static_cast<std::int64_t>(samples.runs.size()) < kLeastSamples ||
         millisecondsBetween(start, Clock::now()) < options.seconds * 1000) {
    TRY(checkStop(options.stop));
    TRY(runTimed(executor, samples, options.perLayer));
  }
  return samples;
}

/// One row per step and per free view, in the order of the program.
std::vector<StepTime> layerTimes(const Program& program, const Plan& plan, const Samples& samples) {
  std::vector<StepTime> layers;
  std::size_t view = 0;
  for (std::size_t i = 0; i <= program.steps.size(); ++i) {
    for (; view < program.views.size() && program.views[view].afterStep == i; ++view) {
      const FusedNode& fused = plan.fusedNodes[program.views[view].fused.index];
      layers.push_back({.name = fused.name, .fused = fused.id, .tactic = "view", .medianMs = 0.0});
    }
    if (i == program.steps.size()) break;
    const Step& step = program.steps[i];
    layers.push_back({.name = step.name, .fused = step.fused, .tactic = step.tactic, .emulated = step.emulated});
    if (!step.emulated && !samples.steps.empty()) layers.back().medianMs = median(samples.steps[i]);
  }
  return layers;
}

void summarise(TimeReport& report, const Samples& samples) {
  std::vector<double> sorted = samples.runs;
  std::ranges::sort(sorted);
  report.medianMs = median(sorted);
  report.minMs = sorted.front();
  report.p95Ms = percentile(sorted, 0.95);
  report.p99Ms = percentile(sorted, 0.99);
  report.throughput = *report.medianMs > 0 ? 1000.0 / *report.medianMs : 0.0;
  report.quiet = *report.p95Ms <= kQuietSpread * *report.medianMs;
}

}  // namespace

std::string emulationReason(const Plan& plan, const Program& program) {
  std::set<std::string> types;
  std::vector<std::string> nodes;
  for (const Step& step : program.steps) {
    if (!step.emulated) continue;
    types.insert(std::string(name(plan.fusedNodes[step.fused.index].compute)));
    nodes.push_back(step.name);
  }
  if (nodes.empty()) return {};
  const std::size_t more = nodes.size() - std::min(nodes.size(), kNamedNodes);
  nodes.resize(nodes.size() - more);
  std::vector<std::string> typeNames(types.begin(), types.end());
  std::vector<std::string> lacking;
  if (types.contains("f16")) lacking.push_back("avx512_fp16");
  if (types.contains("bf16")) lacking.push_back("avx512_bf16");
  std::string reason = joined(typeNames, " and ") + (types.size() == 1 ? " is" : " are") + " emulated on this CPU";
  if (!lacking.empty()) reason += " (no " + joined(lacking, ", no ") + ")";
  reason += ": the result is right, the time would mean nothing. In " + joined(nodes);
  if (more > 0) reason += " and " + std::to_string(more) + " more";
  return reason + ".";
}

Result<TimeReport> measureLatency(Executor& executor, const Plan& plan, int threads, const TimeOptions& options) {
  TimeReport report{.threads = threads};
  report.unavailableReason = emulationReason(plan, executor.program());
  const bool emulated = !report.unavailableReason.empty();
  if (emulated && !options.perLayer) return report;
  TimeOptions effective = options;
  if (emulated) {
    // The layers that are not emulated can still be timed; a few runs are enough, since emulated ones are slow.
    effective.warmupSeconds = 0;
    effective.seconds = std::min(options.seconds, 1.0);
  }
  TRY(warmUp(executor, effective));
  const Samples samples = TRY(sample(executor, effective));
  report.samples = static_cast<std::int64_t>(samples.runs.size());
  if (!emulated) summarise(report, samples);
  if (options.perLayer) report.layers = layerTimes(executor.program(), plan, samples);
  return report;
}

}  // namespace fusescope
