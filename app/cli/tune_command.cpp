#include "app/cli/command.h"

#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <iostream>

#include "app/cli/interrupt.h"
#include "app/cli/read_back.h"
#include "app/cli/table.h"
#include "base/files.h"
#include "base/process_memory.h"
#include "base/text.h"
#include "session/documents/decisions_about.h"
#include "session/documents/tune_report.h"
#include "session/inputs/sample_source.h"
#include "session/operations/tune_operation.h"
#include "session/runs/verdict.h"
#include "session/tune_answer.h"

namespace fusescope::cli {
namespace {

/// The number of points of the front that are printed for people; --json lists all of them.
constexpr std::size_t kMostPoints = 12;

using TuneArguments = ArgumentsOf<TuneSettings>;

std::string errorText(double error) {
  if (std::isnan(error)) return "not evaluated";
  return std::isfinite(error) ? fmt::format("{:.3g}", error) : "not finite";
}

std::string costText(const PlanCost& cost) {
  if (cost.unknown == 0) return msText(cost.ms, cost.how);
  const std::string moved = cost.bytes ? bytesText(*cost.bytes) + " moved" : "bytes not known";
  return fmt::format("{}, {}", counted(cost.casts, "cast"), moved);
}

std::string pointText(const TunePoint& point) {
  if (std::isnan(point.error)) return "not evaluated";
  return fmt::format("error {}, {}", errorText(point.error), costText(point.cost));
}

/// Prints a line for each better set of pins during the search.
void printBetter(const TunePoint& point, std::int64_t evaluations) {
  clearProgressLine();
  std::cerr << fmt::format("{}: error {}, {}, {}\n", counted(evaluations, "evaluation"), errorText(point.error),
                           counted(std::ssize(point.pins), "pin"), costText(point.cost));
}

void printFront(const std::vector<TunePoint>& front) {
  printTitle("Error against cost: no other set is better in all three");
  Table table({{"error", true}, {"cost", true}, {"pins", true}});
  const std::size_t step = std::max<std::size_t>(1, (front.size() + kMostPoints - 1) / kMostPoints);
  for (std::size_t i = 0; i < front.size(); i += step)
    table.add({errorText(front[i].error), costText(front[i].cost), std::to_string(front[i].pins.size())});
  table.print();
  if (step > 1) std::cout << fmt::format("one point of {} each; --json has all {}\n", step, front.size());
}

void printBaselines(const std::vector<TuneBaseline>& baselines) {
  printTitle("What known searches find on the same network");
  Table table({{"search"}, {"pins", true}, {"error", true}, {"cost", true}, {"evaluations", true}, {"ended by"}});
  for (const TuneBaseline& baseline : baselines) {
    const auto& found = baseline.found;
    table.add({baseline.name, found ? std::to_string(found->pins.size()) : "nothing",
               found ? errorText(found->error) : "-", found ? costText(found->cost) : "-",
               std::to_string(baseline.evaluations),
               baseline.end == TuneEnd::Finished ? "itself" : std::string(name(baseline.end))});
  }
  table.print();
}

void printPins(const TuneReport& report) {
  if (report.pins.empty()) return;
  printTitle("Pins");
  Table table({{"node"}, {"type"}, {"error without it", true}, {"why"}});
  for (const TunePin& pin : report.pins)
    table.add({shortened(pin.directive.pattern, 40), std::string(name(pin.directive.type)),
               pin.without ? errorText(pin.without->error) : "not tried", pin.directive.note});
  table.print();
}

void printExported(const TuneGoal& goal, const TuneReport& report) {
  if (report.searchLimit < goal.maxError)
    std::cout << fmt::format("a set with {} exceeded that once it was exported, so the search went on for {:.3g}\n",
                             errorText(*goal.maxError), *report.searchLimit);
  const auto& exported = report.exported;
  if (exported && exported->numbers)
    std::cout << fmt::format("once exported, the network has an error of {} on the reference and of {} on the engine\n",
                             errorText(exported->numbers->onReference.worst),
                             errorText(exported->numbers->onEngine.worst));
  if (exported && exported->numbers && *goal.maxError < *Tolerance::ofLoweredTypes().rms)
    std::cout << fmt::format(
        "give export --tol-rms {:g} too; otherwise it checks the network with the session's tolerance, or {:g}\n",
        *goal.maxError, *Tolerance::ofLoweredTypes().rms);
  if (exported && !exported->whyNot.empty())
    std::cout << fmt::format("export refuses the network with these pins: {}\n", exported->whyNot);
}

void printBeaten(const TuneResult& result) {
  const auto& beaten = result.beatenByAllPinned;
  if (!beaten) return;
  const std::string enough = beaten->pins.empty() ? "no pin is needed for such an error"
                                                  : counted(std::ssize(beaten->pins), "pin") + " would be enough";
  std::cout << fmt::format(
      "{} ({}), but with everything pinned the network is faster on this machine and no further from float32 ({}), so "
      "a set was chosen that is not slower than that; the sets with fewer pins, which --json lists, may still be "
      "better on other machines, or in memory\n",
      enough, pointText(*beaten), pointText(result.allPinned));
}

/// Prints whether all the pins that were found are necessary, for the error or for the time.
void printLeftOut(const TuneReport& report) {
  const TuneResult& result = report.result;
  if (!result.ok) return;
  if (report.pins.empty()) {
    std::cout << fmt::format("no {} is needed\n", pinsBefore(report.options, 0) == 0 ? "pin" : "further pin");
    return;
  }
  const auto good = std::ranges::count_if(result.without, [&](const TuneResult::Without& without) {
    return report.searchLimit && without.error <= *report.searchLimit;
  });
  if (!result.minimal)
    std::cout << "a pin may be unnecessary: not each was tried\n";
  else if (good == 0)
    std::cout << "no single pin can be left out: each was tried\n";
  else
    std::cout << fmt::format(
        "each pin was tried: without any one of {} of them the error stays within what is allowed, but the network is "
        "slower\n",
        good);
}

/// Prints the errors and times without pins and with everything pinned. If the plan keeps some pins, the text is
/// "without further pins".
void printEnds(const TuneReport& report) {
  const std::int64_t kept = pinsBefore(report.options, report.pins.size());
  std::cout << fmt::format("without {}: {}; all {} pinned: {}\n", kept == 0 ? "pins" : "further pins",
                           pointText(report.result.unpinned), report.pinnable, pointText(report.result.allPinned));
  if (kept > 0)
    std::cout << fmt::format("the plan keeps {} that it has, which {} not counted\n", counted(kept, "pin"),
                             kept == 1 ? "is" : "are");
}

/// Says what the costs are if times are not known.
std::string whatCostsAre(const TuneReport& report) {
  const std::string costs = report.result.chosen.cost.bytes
                                ? "costs are conversions and bytes"
                                : "costs are conversions only, because bytes depend on extents that are not known";
  if (report.options.compiler == kOwnCompiler)
    return fmt::format("times are not known: {}; fusescope build measures them", costs);
  return costs + ": only the compiler knows what a pin costs";
}

void printForPeople(const TuneArguments& arguments, const TuneReport& report, const Samples& samples,
                    const Plan& plan) {
  const TuneResult& result = report.result;
  printFront(result.front);
  if (arguments.goal.baselines) printBaselines(result.baselines);
  printPins(report);
  printEnds(report);
  if (std::isnan(result.chosen.error))
    std::cout << "not reached: nothing was evaluated\n";
  else
    std::cout << fmt::format("{}: {} of {} nodes pinned: {}\n", result.ok ? "found" : "not reached, the nearest",
                             report.pins.empty() ? "none" : std::to_string(report.pins.size()), report.pinnable,
                             pointText(result.chosen));
  if (const auto& there = result.chosen.onReference)
    std::cout << fmt::format("the error is {} by the backend {} and {} by the reference\n",
                             errorText(result.chosen.measured), report.backend, errorText(*there));
  printExported(arguments.goal, report);
  printBeaten(result);
  const bool areTypesGiven = typesNotGiven(plan).empty();
  if (areTypesGiven || report.pinnable > 0) printLeftOut(report);
  std::cout << fmt::format("{} on {}, errors by {}, {:.1f} s{}\n", counted(result.evaluations, "evaluation"),
                           counted(std::ssize(samples.list), "sample"),
                           report.options.compiler == kOwnCompiler ? report.backend : report.options.compiler,
                           report.seconds,
                           result.end == TuneEnd::Finished ? "" : fmt::format(", ended by: {}", name(result.end)));
  if (result.chosen.cost.unknown > 0) std::cout << whatCostsAre(report) << '\n';
  printTypesNotGiven(plan);
  printAboutInputs(samples);
  if (const auto memory = processMemory())
    std::cout << fmt::format("{} of memory at the most\n", bytesText(memory->peakResident));
}

Status checkOutputs(const TuneArguments& arguments, const Artifact& artifact) {
  const SampleSource inputs = arguments.inputs.source(artifact);
  TRY(checkOutput(arguments.output, "--output", artifact, inputs));
  if (arguments.state.empty()) return Done{};
  TRY(checkOutput(arguments.state, "--resume", artifact, inputs));
  const auto whole = [](const std::string& path) { return std::filesystem::weakly_canonical(path); };
  if (whole(arguments.state) != whole(arguments.output)) return Done{};
  return Diagnostic{.message = "--output and --resume name the same file", .where = {.file = arguments.state}};
}

/// Returns the allowed error of the outputs against float32 if the command line gives none: the tolerance of the
/// session.
Result<double> errorAllowed(const TuneArguments& arguments, const Artifact& artifact) {
  if (!arguments.metric.empty())
    return Diagnostic{.message = "the largest allowed error is not known, because it is in the unit of --metric",
                      .where = {.attribute = "--max-error"},
                      .help = "Give the largest allowed error, or --min-speedup."};
  const Tolerance tolerance = toleranceOf(artifact);
  if (tolerance.rms) return *tolerance.rms;
  return Diagnostic{.message = fmt::format("the session has no limit for max|Δ| over rms: {}", inWords(tolerance)),
                    .where = {.file = arguments.path, .attribute = "--max-error"},
                    .help = "Give the largest allowed error, or --min-speedup."};
}

Result<int> tuneOpened(const TuneArguments& arguments, const Artifact& artifact, const StopToken& stop) {
  TRY(checkOutputs(arguments, artifact));
  const auto samples = TRY(arguments.inputs.samples(artifact));
  TuneOptions options;
  options.goal = arguments.goal;
  options.evaluator.output = arguments.of;
  options.evaluator.metric = arguments.metric;
  options.evaluator.backend = arguments.engine.backend.empty() ? tuningBackend(artifact) : artifact.backend;
  options.evaluator.threads = arguments.engine.threads;
  options.evaluator.stop = stop;
  if (!options.goal.maxError && !options.goal.minSpeedup)
    options.goal.maxError = TRY(errorAllowed(arguments, artifact));
  options.stateFile = arguments.state;
  options.explain = arguments.explain;
  options.onBetter = printBetter;
  options.progress = progressLine();
  options.onTry = [report = options.progress](const std::vector<std::string>& nodes, std::int64_t evaluations) {
    if (report)
      report("tune",
             fmt::format("{} done, trying {}", counted(evaluations, "evaluation"), counted(std::ssize(nodes), "pin")));
  };
  const TuneReport report = TRY(tuneArtifact(artifact, samples, options));
  clearProgressLine();
  // The result is printed even if a file of it could not be written, because it is more valuable than the file.
  Status written = writeFileAtomically(arguments.output, toJson(directivesFileOf(report.options)).dump(1) + "\n");
  if (arguments.json) {
    printJson(toJson(report, samples, options));
  } else {
    printForPeople(arguments, report, samples, *artifact.plan);
  }
  TRY(std::move(written));
  TRY(report.stateWritten);
  return report.result.ok ? kDone : kDoesNotHold;
}

Result<int> tuneModel(const TuneArguments& arguments) {
  const InterruptStop interrupt;
  const auto artifact = TRY(open(arguments.path, arguments.plan, &arguments.engine));
  TRY(checkAble(artifact, Ability::Run, "run a network"));
  if (reportObeyRefusals(*artifact.plan) || TRY(reportUnobeyedPinsBefore(artifact))) return kDoesNotHold;
  return underAssumedExtents(tuneOpened(arguments, artifact, interrupt.token()), *artifact.plan,
                             !arguments.inputs.source(artifact).empty());
}

}  // namespace

Command tuneCommand(CLI::App& app) {
  return commandOf<TuneSettings>(app, tuneOperation(), tuneModel);
}

}  // namespace fusescope::cli
