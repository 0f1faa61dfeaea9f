#include "engine/latency.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>
#include <set>

#include "backends/reference/reference_nodes.h"
#include "base/medians.h"
#include "base/text.h"
#include "engine/built_engine.h"

namespace fusescope {
namespace {

using Clock = std::chrono::steady_clock;

/// The machine counts as quiet if 95 of 100 runs take at most this many times the median.
constexpr double kQuietSpread = 1.25;
constexpr std::int64_t kLeastSamples = 5;
constexpr std::size_t kNamedSteps = 3;
constexpr std::size_t kNeighbours = 4;  // the number of neighbouring runs on each side of a run

double millisecondsBetween(Clock::time_point start, Clock::time_point end) {
  return std::chrono::duration<double, std::milli>(end - start).count();
}

/// Returns the value below which `share` of the sorted samples are (nearest rank).
double percentile(const std::vector<double>& sorted, double share) {
  const auto rank = static_cast<std::size_t>(std::ceil(share * static_cast<double>(sorted.size())));
  return sorted[std::min(sorted.size(), std::max<std::size_t>(rank, 1)) - 1];
}

/// Times in milliseconds. If layers are timed, every other run is made without a clock between its steps: these runs
/// give the time of a whole run, and the others give the times of layers.
struct Samples {
  std::vector<double> runs;
  std::vector<double> clockedRuns;
  std::int64_t byFewerThreads = 0;         ///< the number of runs
  std::vector<std::vector<double>> steps;  ///< for each step, its times in the runs with a clock
};

Status runPlain(AdaptiveRun& program, Samples& samples) {
  const Clock::time_point start = Clock::now();
  TRY(program.run({}));
  samples.runs.push_back(millisecondsBetween(start, Clock::now()));
  samples.byFewerThreads += program.wasByFewer() ? 1 : 0;
  return Done{};
}

Status runClocked(AdaptiveRun& program, Samples& samples, BodyProfile& profile) {
  profile.resume();
  const Clock::time_point start = Clock::now();
  Status status = program.run({}, [&](std::size_t step, double ms) { samples.steps[step].push_back(ms); });
  const Clock::time_point end = Clock::now();
  profile.stop();
  TRY(std::move(status));
  samples.clockedRuns.push_back(millisecondsBetween(start, end));
  profile.endRun();
  return Done{};
}

Status warmUp(AdaptiveRun& program, const TimeOptions& options) {
  if (options.progress) options.progress("warm_up", "");
  const Clock::time_point start = Clock::now();
  do {
    TRY(program.run(options.stop));
  } while (millisecondsBetween(start, Clock::now()) < options.warmupSeconds * 1000);
  return Done{};
}

/// If `emulated` is set, the time of a whole run means nothing, and only the times of layers are used.
Result<Samples> sample(AdaptiveRun& program, const TimeOptions& options, bool emulated, BodyProfile& profile) {
  Samples samples;
  samples.steps.resize(program.program().steps.size());
  if (options.progress) options.progress("measure", "");
  const Clock::time_point start = Clock::now();
  for (std::int64_t i = 0; i < kLeastSamples || millisecondsBetween(start, Clock::now()) < options.seconds * 1000;
       ++i) {
    TRY(checkStop(options.stop));
    if (!emulated) TRY(runPlain(program, samples));
    if (options.perLayer) TRY(runClocked(program, samples, profile));
  }
  return samples;
}

/// Returns one row for each step and each free view, in the order of the program.
std::vector<StepTime> layerTimes(const Program& program, const Engine& engine, const Samples& samples,
                                 const BodyProfile& profile) {
  const Plan& plan = engine.plan();
  const std::vector<std::size_t> middle = middleRuns(samples.clockedRuns);
  std::vector<StepTime> layers;
  std::size_t view = 0;
  for (std::size_t i = 0; i <= program.steps.size(); ++i) {
    for (; view < program.views.size() && program.views[view].afterStep == i; ++view) {
      const FusedNode& fused = plan.fusedNodes[program.views[view].fused.index];
      layers.push_back({.name = fused.name, .fused = fused.id, .tactic = "view", .medianMs = 0.0});
    }
    if (i == program.steps.size()) break;
    const Step& step = program.steps[i];
    layers.push_back({.name = step.name,
                      .fused = step.fused,
                      .tactic = step.tactic,
                      .device = std::string(program.arenas[step.device].device->name()),
                      .emulated = step.emulated});
    if (!step.emulated) layers.back().medianMs = meanOf(samples.steps[i], middle);
    if (step.fused.valid()) layers.back().bodies = profile.of(plan, plan.fusedNodes[step.fused.index], middle);
  }
  return layers;
}

/// Returns the type that a step imitates: that of its fused node, or the narrower type of a conversion.
DataType emulatedTypeOf(const Plan& plan, const Program& program, const Step& step) {
  if (step.fused.valid()) return emulatedType(plan, plan.fusedNodes[step.fused.index]);
  const DataType from = program.buffers[step.inputs.front()].desc.dtype;
  const DataType to = program.buffers[step.outputs.front()].desc.dtype;
  return bitWidth(to) < bitWidth(from) ? to : from;
}

}  // namespace

void summarise(TimeReport& report, const std::vector<double>& runs) {
  std::vector<double> sorted = runs;
  std::ranges::sort(sorted);
  report.samples = std::ssize(sorted);
  report.medianMs = median(sorted);
  report.minMs = sorted.front();
  report.p95Ms = percentile(sorted, 0.95);
  report.p99Ms = percentile(sorted, 0.99);
  report.throughput = *report.medianMs > 0 ? 1000.0 / *report.medianMs : 0.0;
  report.quiet = *report.p95Ms <= kQuietSpread * *report.medianMs;
}

bool quietSteps(const std::vector<double>& stepMs) {
  std::vector<double> overNeighbours;
  for (std::size_t i = 0; i < stepMs.size(); ++i) {
    const std::size_t from = i - std::min(i, kNeighbours), to = std::min(stepMs.size(), i + kNeighbours + 1);
    const double usual =
        median({stepMs.begin() + static_cast<std::ptrdiff_t>(from), stepMs.begin() + static_cast<std::ptrdiff_t>(to)});
    overNeighbours.push_back(usual > 0 ? stepMs[i] / usual : 1.0);
  }
  std::ranges::sort(overNeighbours);
  return percentile(overNeighbours, 0.95) <= kQuietSpread;
}

std::vector<std::size_t> middleRuns(const std::vector<double>& runs) {
  std::vector<std::size_t> order(runs.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t run) { return runs[run]; });
  const auto left = static_cast<std::ptrdiff_t>((runs.size() + 2) / 4);
  const bool leavesSome = static_cast<std::size_t>(2 * left) < runs.size();
  if (!leavesSome) return order;
  return {order.begin() + left, order.end() - left};
}

double meanOf(const std::vector<double>& values, const std::vector<std::size_t>& which) {
  double sum = 0;
  for (const std::size_t i : which) sum += values[i];
  return sum / static_cast<double>(which.size());
}

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
  std::string reason = "the reference runs " + typeNames +
                       " here: it calculates exactly, in software, so that the results are right, but a time would "
                       "mean nothing. These steps run in this way: " +
                       joined(steps);
  if (more > 0) reason += " and " + std::to_string(more) + " more";
  return reason + ".";
}

Result<TimeReport> measureLatency(AdaptiveRun& program, const Engine& engine, BodyProfile& profile,
                                  const TimeOptions& options) {
  const Plan& plan = engine.plan();
  TimeReport report{.threads = engine.threads(), .made = engine.made()};
  report.unavailableReason = emulationReason(plan, program.program());
  const bool emulated = !report.unavailableReason.empty();
  if (emulated && !options.perLayer) return report;
  TimeOptions effective = options;
  if (emulated) {
    // The layers that are not emulated can still be timed. A few runs are enough, because emulated layers are slow.
    effective.warmupSeconds = 0;
    effective.seconds = std::min(options.seconds, 1.0);
  }
  TRY(warmUp(program, effective));
  profile.forget();
  const Samples samples = TRY(sample(program, effective, emulated, profile));
  if (emulated) {
    report.samples = std::ssize(samples.clockedRuns);
  } else {
    summarise(report, samples.runs);
    report.byFewerThreads = samples.byFewerThreads;
  }
  if (options.perLayer) report.layers = layerTimes(program.program(), engine, samples, profile);
  return report;
}

}  // namespace fusescope
