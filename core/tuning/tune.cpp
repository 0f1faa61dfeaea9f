#include "tuning/tune.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "base/json.h"
#include "tuning/baselines.h"
#include "tuning/tune_state.h"

namespace fusescope {
namespace {

constexpr const char* kSearching = "sets of pins";  ///< the name of the current work, for people

Status checkGoal(const TuneGoal& goal) {
  const auto bad = [](std::string message, std::string option, std::string help) {
    return Diagnostic{
        .message = std::move(message), .where = {.attribute = std::move(option)}, .help = std::move(help)};
  };
  if (!goal.maxError && !goal.minSpeedup)
    return bad("the goal of the search is missing", "--max-error",
               "Say how large the error may be, or give --min-speedup.");
  if (goal.maxError && !(*goal.maxError >= 0)) return bad("must be 0 or more", "--max-error", {});
  if (goal.minSpeedup && !(*goal.minSpeedup > 0)) return bad("must be above 0", "--min-speedup", {});
  return Done{};
}

/// Checks that both extreme plans have times, without which a speed-up cannot be asked for.
Status checkTimes(PlanEvaluator& evaluator, const TuneGoal& goal) {
  if (!goal.minSpeedup) return Done{};
  PinSet all;
  for (std::uint32_t i = 0; i < evaluator.nodeCount(); ++i) all.insert(i);
  for (const PinSet& pins : {PinSet(), all}) {
    const PlanCost cost = TRY(evaluator.plan(pins)).cost;
    if (cost.unknown > 0)
      return Diagnostic{.message = fmt::format("the time of {} kernels and conversions is not known", cost.unknown),
                        .where = {.file = evaluator.lowered().model->path, .attribute = "--min-speedup"},
                        .help = "Build the network with these types and in f32: fusescope build measures them."};
  }
  return Done{};
}

std::string errorText(double error, bool ofMetric) {
  if (!std::isfinite(error)) return "a value becomes infinite or NaN";
  return fmt::format("the error is {:.3g}{}", error, ofMetric ? "" : " of rms");
}

std::string whyPinned(const std::optional<TuneResult::Without>& without, double with, const TuneGoal& goal,
                      const std::optional<double>& searchLimit, bool ofMetric) {
  if (!without) return "tune found it; the search did not try what happens without it";
  std::string why = fmt::format("without it {}, with it {:.3g}", errorText(without->error, ofMetric), with);
  if (goal.maxError) why += fmt::format("; at most {:.3g} is allowed", *searchLimit);
  if (searchLimit < goal.maxError)
    why += fmt::format(", so that the error of the exported network is at most {:.3g}", *goal.maxError);
  if (without->slower)
    why += "; without it the network is slower than with all nodes pinned or than the result of a known search";
  return why;
}

Hash128 hashOf(const std::vector<PlanRunner::Inputs>& samples) {
  KeyBuilder key;
  for (const PlanRunner::Inputs& inputs : samples)
    for (const auto& [name, tensor] : inputs)
      key.text(name).text(typeOf(tensor).text()).bytes({tensor.bytes(), tensor.byteSize()});
  return key.hash();
}

/// Hashes what the errors of a search depend on. Large weights are not in the hash of the network, but its outputs
/// depend on them.
Hash128 stateKey(const PlanEvaluator& evaluator, const Hash128& samples, const EvaluatorOptions& options) {
  KeyBuilder key;
  key.text(evaluator.lowered().model->contentHash.hex()).text(samples.hex()).text(evaluator.expectedHash().hex());
  key.text(toJson(directivesFileOf(evaluator.lowered().options)).dump());
  key.text(evaluator.lowered().target.canonical()).text(options.backend).number(options.threads);
  key.text(options.output).text(options.metric);
  const std::string& compiler = evaluator.lowered().options.compiler;
  if (compiler != kOwnCompiler) key.text(compiler);
  return key.hash();
}

/// Writes evaluations to a file, if there is one, while they are made, so that no more than the last few are lost if
/// the search is killed.
class StateKeeper {
 public:
  StateKeeper(const std::filesystem::path& path, const Hash128& key, const TuneMemory& memory)
      : m_path(path), m_key(key), m_memory(memory) {}
  Status write() {
    if (m_path.empty()) return Done{};
    m_last = std::chrono::steady_clock::now();
    return writeTuneState(m_path, m_key, m_memory);
  }
  void writeNowAndThen() {
    constexpr std::chrono::seconds kEvery{1};
    if (std::chrono::steady_clock::now() - m_last >= kEvery) (void)write();  // the last one reports errors
  }

 private:
  std::filesystem::path m_path;
  Hash128 m_key;
  const TuneMemory& m_memory;
  std::chrono::steady_clock::time_point m_last;
};

/// Exports the network with `pins` and checks it on the samples of the search.
Result<ExportedCheck> exportedWith(const PlanEvaluator& evaluator, const PinSet& pins, const TuneOptions& options) {
  if (options.progress) options.progress("tune", "the network as it would be exported");
  const Plan& lowered = evaluator.lowered();
  const auto plan = TRY(makePlan(lowered.model, evaluator.optionsWith(pins), nullptr, evaluator.stop(), &lowered));
  auto checked = checkExported(*plan, evaluator.samples(), *options.goal.maxError, evaluator.stop());
  if (options.progress) options.progress("tune", kSearching);
  return checked;
}

/// Runs the search. It includes the exported network if errors are of all outputs and are measured as for exports,
/// which is not the case if another compiler runs the network.
Result<ExportedSearch> searchFor(PlanEvaluator& evaluator, const TuneOptions& options, TuneMemory& memory) {
  const bool byExport = options.evaluator.metric.empty() && options.evaluator.output.empty();
  if (options.goal.maxError && byExport && !options.evaluator.outputsOf)
    return tuneSearchExported(evaluator, options.goal, memory, options.onBetter,
                              [&](const PinSet& pins) { return exportedWith(evaluator, pins, options); });
  return ExportedSearch{.result = TRY(tuneSearch(evaluator, options.goal, memory, options.onBetter)),
                        .searchLimit = options.goal.maxError};
}

/// Tries the network without each pin that was not tried yet. What is cancelled stays unknown.
Status tryWithoutEach(PlanEvaluator& evaluator, TuneResult& result, TuneMemory& memory) {
  for (const std::uint32_t pin : result.chosen.pins) {
    if (std::ranges::find(result.without, pin, &TuneResult::Without::pin) != result.without.end()) continue;
    const PinSet left = pinsWithout(result.chosen.pins, {pin});
    const PinnedPlan plan = TRY(evaluator.plan(left));
    if (!memory.errors.contains(plan.effect)) memory.add(plan.effect, TRY(evaluator.error(left)));
    const bool slower = result.noSlowerThan && cheaper(*result.noSlowerThan, plan.cost);
    result.without.push_back({pin, memory.errors.at(plan.effect), slower});
  }
  return Done{};
}

}  // namespace

Result<TuneReport> tune(const std::shared_ptr<const Plan>& lowered, std::vector<PlanRunner::Inputs> samples,
                        const PriceModel* prices, const TuneOptions& options) {
  TRY(checkGoal(options.goal));
  const auto begin = std::chrono::steady_clock::now();
  if (options.progress) options.progress("tune", "the network in float32");
  const Hash128 given = hashOf(samples);
  const PlanEvaluator* known = nullptr;
  EvaluatorOptions evaluation = options.evaluator;
  if (options.onTry)
    evaluation.onTry = [&, count = std::int64_t{0}](const PinSet& pins) mutable {
      if (known == nullptr) return;
      std::vector<std::string> nodes;
      for (const std::uint32_t pin : pins) nodes.push_back(known->pinOf(pin).pattern);
      options.onTry(nodes, count++);
    };
  const auto evaluator = TRY(PlanEvaluator::create(lowered, std::move(samples), prices, evaluation));
  known = evaluator.get();
  TRY(checkTimes(*evaluator, options.goal));
  const Hash128 key = stateKey(*evaluator, given, options.evaluator);
  TuneMemory memory = options.stateFile.empty() ? TuneMemory() : TRY(readTuneState(options.stateFile, key));
  StateKeeper keeper(options.stateFile, key, memory);
  TRY(keeper.write());  // errors of writing are reported before the work, not after it
  memory.added = [&] { keeper.writeNowAndThen(); };
  TuneReport report;
  if (options.progress) options.progress("tune", kSearching);
  auto found = searchFor(*evaluator, options, memory);
  const double left =
      options.goal.seconds - std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  const bool hasTime = options.goal.seconds <= 0 || left > 0;
  if (found.ok() && options.explain && hasTime && !options.evaluator.stop.stop_requested()) {
    evaluator->stopAfter(options.goal.seconds <= 0 ? 0 : left);
    const Status tried = tryWithoutEach(*evaluator, found.value().result, memory);
    if (!tried.ok() && !tried.error().cancelled) found = tried.error();
  }
  report.stateWritten = keeper.write();
  ExportedSearch search = TRY(std::move(found));
  report.result = std::move(search.result);
  report.exported = std::move(search.exported);
  report.searchLimit = search.searchLimit;
  report.options = lowered->options;
  for (const std::uint32_t pin : report.result.chosen.pins) {
    const auto known = std::ranges::find(report.result.without, pin, &TuneResult::Without::pin);
    const auto without = known == report.result.without.end() ? std::nullopt : std::optional(*known);
    TunePin chosen{.directive = evaluator->pinOf(pin), .without = without};
    chosen.directive.note = whyPinned(without, report.result.chosen.error, options.goal, report.searchLimit,
                                      !options.evaluator.metric.empty());
    report.options.directives.push_back(chosen.directive);
    report.pins.push_back(std::move(chosen));
  }
  assignIds(report.options.directives);
  for (std::uint32_t node = 0; node < evaluator->nodeCount(); ++node) report.nodes.push_back(evaluator->pinOf(node));
  report.backend = options.evaluator.backend;
  report.pinnable = evaluator->pinnable().nodes.size();
  report.groups = evaluator->pinnable().groups.size();
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return report;
}

}  // namespace fusescope
