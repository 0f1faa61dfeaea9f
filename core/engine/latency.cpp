#include "engine/latency.h"

#include <algorithm>
#include <chrono>
#include <set>

#include "backends/reference/reference_nodes.h"
#include "base/text.h"
#include "engine/run_statistics.h"

namespace fusescope {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::int64_t kLeastSamples = 5;
constexpr std::size_t kNamedSteps = 3;

double millisecondsBetween(Clock::time_point start, Clock::time_point end) {
  return std::chrono::duration<double, std::milli>(end - start).count();
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
