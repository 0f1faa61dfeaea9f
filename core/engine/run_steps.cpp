#include "engine/run_steps.h"

#include <algorithm>
#include <chrono>
#include <set>

#include "base/elapsed.h"
#include "base/name_hints.h"
#include "engine/run_statistics.h"
#include "ir/graph.h"

namespace fusescope {
namespace {

using Clock = std::chrono::steady_clock;

Result<const Value*> named(const Graph& graph, const std::vector<ValueId>& values, const std::string& name,
                           const std::string& kind) {
  std::vector<std::string> names;
  for (const ValueId id : values) {
    names.push_back(graph.value(id).name);
    if (names.back() == name) return &graph.value(id);
  }
  return Diagnostic{.message = "is not an " + kind + " of this network",
                    .where = {.value = name, .attribute = "--feed"},
                    .help = "Its " + kind + "s are " + listed(names) + "."};
}

std::string fedTypeText(const TensorType& type) {
  return type.container == Container::None ? std::string(name(type.dtype)) : type.text();
}

Status checkFeeds(const Graph& graph, const std::vector<Feed>& feeds) {
  std::set<std::string> fed;
  for (const Feed& feed : feeds) {
    const Value& output = *TRY(named(graph, graph.outputs(), feed.output, "output"));
    const Value& input = *TRY(named(graph, graph.inputs(), feed.input, "input"));
    if (!fed.insert(feed.input).second)
      return Diagnostic{.message = "gets two values from --feed",
                        .where = {.value = feed.input, .attribute = "--feed"}};
    if (output.type.dtype == input.type.dtype && output.type.container == input.type.container) continue;
    return Diagnostic{.message = "is " + fedTypeText(output.type) + ", and cannot be fed to '" + feed.input +
                                 "', which is " + fedTypeText(input.type),
                      .where = {.value = feed.output, .attribute = "--feed"}};
  }
  return Done{};
}

/// Runs the engine step by step.
class Stepper {
 public:
  Stepper(Engine& engine, std::map<std::string, Tensor> inputs, const Steps& steps)
      : m_engine(engine), m_inputs(std::move(inputs)), m_steps(steps) {}

  /// Runs one step. Its results are kept until the next step.
  Status step(const std::vector<std::string>& mark, const StopToken& stop) {
    for (const Feed& feed : m_steps.feeds)
      if (m_done > 0) m_inputs.at(feed.input) = m_result.outputs.at(feed.output);
    ++m_done;
    Result<RunResult> result = m_engine.run(m_inputs, mark, stop);
    if (!result.ok()) {
      Diagnostic error = std::move(result).error();
      if (!error.cancelled && m_done > 1)
        error.message =
            "in step " + std::to_string(m_done) + " of " + std::to_string(m_steps.count) + ": " + error.message;
      return error;
    }
    m_result = std::move(result).value();
    return Done{};
  }
  std::int64_t done() const { return m_done; }
  RunResult takeResult() { return std::move(m_result); }

 private:
  Engine& m_engine;
  std::map<std::string, Tensor> m_inputs;
  const Steps& m_steps;
  RunResult m_result;
  std::int64_t m_done = 0;
};

/// Runs the steps from the start until the warm-up time is over, repeatedly if they end earlier.
Status warmUp(Engine& engine, const std::map<std::string, Tensor>& inputs, const TimeOptions& options) {
  if (options.progress) options.progress("warm_up", "");
  const Clock::time_point start = Clock::now();
  while (msSince(start) < options.warmupSeconds * 1000) {
    Stepper stepper(engine, inputs, *options.steps);
    while (stepper.done() < options.steps->count && msSince(start) < options.warmupSeconds * 1000)
      TRY(stepper.step({}, options.stop));
  }
  return Done{};
}

}  // namespace

Result<StepsResult> runSteps(Engine& engine, std::map<std::string, Tensor> inputs, const Steps& steps,
                             const std::vector<std::string>& mark, const StopToken& stop) {
  TRY(checkFeeds(engine.plan().graph(), steps.feeds));
  Stepper stepper(engine, std::move(inputs), steps);
  StepsResult result;
  result.stepMs.reserve(static_cast<std::size_t>(steps.count));
  while (stepper.done() < steps.count) {
    const bool isLast = stepper.done() + 1 == steps.count;
    const Clock::time_point start = Clock::now();
    TRY(stepper.step(isLast ? mark : std::vector<std::string>(), stop));
    result.stepMs.push_back(msSince(start));
  }
  result.last = stepper.takeResult();
  return result;
}

Result<TimeReport> timeSteps(Engine& engine, const std::map<std::string, Tensor>& inputs, const TimeOptions& options) {
  TRY(checkFeeds(engine.plan().graph(), options.steps->feeds));
  // It does not depend on extents whether times can be measured, so that the first step is enough to find out.
  TimeReport report = TRY(engine.time(inputs, {.seconds = 0, .warmupSeconds = 0, .stop = options.stop}));
  if (!report.unavailableReason.empty()) return report;
  TRY(warmUp(engine, inputs, options));
  if (options.progress) options.progress("measure", "");
  report.stepMs = TRY(runSteps(engine, inputs, *options.steps, {}, options.stop)).stepMs;
  summarise(report, report.stepMs);
  report.quiet = quietSteps(report.stepMs);
  return report;
}

}  // namespace fusescope
