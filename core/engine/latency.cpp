#include <algorithm>
#include <chrono>
#include <cmath>
#include <set>

#include "backends/reference/reference_nodes.h"
#include "base/text.h"
#include "engine/built_engine.h"

namespace fusescope {
namespace {

using Clock = std::chrono::steady_clock;

/// The machine counts as quiet when 95 of 100 runs take at most this many times the median.
constexpr double kQuietSpread = 1.25;
constexpr std::int64_t kLeastSamples = 5;
constexpr std::size_t kNamedSteps = 3;

double millisecondsBetween(Clock::time_point start, Clock::time_point end) {
  return std::chrono::duration<double, std::milli>(end - start).count();
}

/// The value below which `share` of the sorted samples lie (nearest rank).
double percentile(const std::vector<double>& sorted, double share) {
  const auto rank = static_cast<std::size_t>(std::ceil(share * static_cast<double>(sorted.size())));
  return sorted[std::min(sorted.size(), std::max<std::size_t>(rank, 1)) - 1];
}

struct Samples {
  std::vector<double> runs;
  std::vector<std::vector<double>> steps;  ///< per step, if asked for
};

Status runTimed(Executor& executor, Samples& samples, BodyProfile* profile) {
  const Clock::time_point start = Clock::now();
  if (profile == nullptr) {
    TRY(executor.run({}));
    samples.runs.push_back(millisecondsBetween(start, Clock::now()));
    return Done{};
  }
  TRY(executor.run({}, [&](std::size_t step, double ms) { samples.steps[step].push_back(ms); }));
  samples.runs.push_back(millisecondsBetween(start, Clock::now()));
  profile->endRun();
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

Result<Samples> sample(Executor& executor, const TimeOptions& options, BodyProfile* profile) {
  Samples samples;
  if (profile != nullptr) samples.steps.resize(executor.program().steps.size());
  if (options.progress) options.progress("measure", "");
  const Clock::time_point start = Clock::now();
  while (static_cast<std::int64_t>(samples.runs.size()) < kLeastSamples ||
         millisecondsBetween(start, Clock::now()) < options.seconds * 1000) {
    TRY(checkStop(options.stop));
    TRY(runTimed(executor, samples, profile));
  }
  return samples;
}

/// One row per step and per free view, in the order of the program.
std::vector<StepTime> layerTimes(const Program& program, const Plan& plan, const Samples& samples,
                                 const BodyProfile& profile) {
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
    if (step.fused.valid()) layers.back().bodies = profile.of(plan, plan.fusedNodes[step.fused.index]);
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

/// The type that a step imitates: a fused node's, or of a conversion the narrower side.
DataType emulatedTypeOf(const Plan& plan, const Program& program, const Step& step) {
  if (step.fused.valid()) return emulatedType(plan, plan.fusedNodes[step.fused.index]);
  const DataType from = program.buffers[step.inputs.front()].desc.dtype;
  const DataType to = program.buffers[step.outputs.front()].desc.dtype;
  return bitWidth(to) < bitWidth(from) ? to : from;
}

}  // namespace

std::string emulationReason(const Plan& plan, const Program& program) {
  std::set<std::string> types;
  std::vector<std::string> steps;
  for (const Step& step : program.steps) {
    if (!step.emulated) continue;
    types.insert(std::string(name(emulatedTypeOf(plan, program, step))));
    steps.push_back(step.name);
  }
  if (steps.empty()) return {};
  const std::size_t more = steps.size() - std::min(steps.size(), kNamedSteps);
  steps.resize(steps.size() - more);
  const std::string typeNames = joined({types.begin(), types.end()}, " and ");
  std::string reason = "no kernel of Fusescope runs " + typeNames + " here; the reference calculates " +
                       (types.size() == 1 ? "it" : "them") +
                       " exactly, in software, so that the results are right and a time would say nothing. In " +
                       joined(steps);
  if (more > 0) reason += " and " + std::to_string(more) + " more";
  return reason + ".";
}

Result<TimeReport> measureLatency(Executor& executor, const Plan& plan, int threads, BodyProfile& profile,
                                  const TimeOptions& options) {
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
  if (options.perLayer) profile.start();
  Result<Samples> sampled = sample(executor, effective, options.perLayer ? &profile : nullptr);
  profile.stop();
  const Samples samples = TRY(std::move(sampled));
  report.samples = static_cast<std::int64_t>(samples.runs.size());
  if (!emulated) summarise(report, samples);
  if (options.perLayer) report.layers = layerTimes(executor.program(), plan, samples, profile);
  return report;
}

}  // namespace fusescope
