#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <set>
#include <thread>

#include "app/cli/command.h"
#include "app/cli/read_back.h"
#include "app/cli/table.h"
#include "base/phase_clock.h"
#include "compilers/probed/next_build.h"
#include "compilers/probed/probed_compiler.h"
#include "engine/description/described_model.h"
#include "engine/tactics/measuring_effort.h"
#include "planning/read_back/pins_made.h"
#include "probe/listeners.h"
#include "session/documents/decisions_about.h"
#include "session/equal_regions.h"
#include "session/open_artifact.h"
#include "session/operations/build_operation.h"

namespace fusescope::cli {
namespace {

using BuildArguments = ArgumentsOf<BuildSettings>;

/// One of the builds of the command.
struct Built {
  std::string directives;  ///< the file that --then gave; empty: the first build
  std::string output;
  bool isOurs = true;     ///< our own compiler built it
  bool isWritten = true;  ///< false: another compiler does not obey a pin marked obey, so that no engine was written
  std::shared_ptr<const Cover> made;
  BuildReport report;
  std::vector<BuildPhase> phases;
  std::int64_t bytes = 0;
};

/// Prints which regions were not measured, and why. It prints nothing if all were.
void printMeasuring(const BuildReport& report) {
  for (const Decision& decision : leftUnmeasured(report.measuring)) std::cout << message(decision) << "\n";
}

/// Returns whether the time beside it was measured, and when.
std::string howKnown(const TacticChoice& choice, const std::optional<double>& ms) {
  if (ms) return choice.fromCache ? "before" : "now";
  return choice.predictedMs ? "predicted" : "no";
}

bool isFound(const BuildReport& report) {
  return std::ranges::any_of(report.decisions, [](const Decision& each) { return each.code == "cache.found"; });
}

/// Prints what was found in the store, why the store or the measured times were not used, which segments were compiled
/// once, and which types are not calculated in. The segments of a network may say the same, which is printed once for
/// each build. If there are several builds, each line starts with the engine that it is about.
void printDecisions(const std::vector<Built>& builds) {
  for (const Built& built : builds) {
    std::set<std::string> printed;
    for (const Decision& decision : built.report.decisions) {
      const bool isPrinted = isAboutStore(decision) || isAboutTimes(decision) || isTypeNotGiven(decision) ||
                             decision.code == "partition.equal_segments";
      if (!isPrinted || !printed.insert(message(decision)).second) continue;
      std::cout << (builds.size() > 1 ? built.output + ": " : std::string()) << message(decision) << "\n";
    }
  }
}

/// Prints what another compiler did with the types that were asked for.
void printPinsMade(const Built& built) {
  if (const ReadBackPlan* made = asReadBack(*built.made)) printPins(*made);
}

/// Returns "engine.fse", or why there is no such file.
std::string engineText(const Built& built) {
  return built.isWritten ? built.output : fmt::format("no {}: a pin is not obeyed", built.output);
}

void printBuild(const Built& built) {
  const BuildReport& report = built.report;
  printTitle("Phases");
  Table phases({{"phase"}, {"time", true}});
  for (const auto& phase : built.phases) phases.add({phase.name, msText(phase.ms)});
  for (const CompilerPhase& phase : report.compilerPhases)
    phases.add({"the compiler's " + phase.name, msText(phase.ms)});
  phases.print();
  if (report.compilerPeakBytes > 0)
    std::cout << "the compiler's process had at most " << bytesText(report.compilerPeakBytes) << " of memory\n";
  printDecisions({built});
  printPinsMade(built);
  printMeasuring(report);
  printTitle("Tactics");
  Table tactics({{"fused node"}, {"chosen"}, {"time", true}, {"of", true}, {"measured"}});
  for (const auto& choice : report.tactics) {
    std::optional<double> ms;
    for (const auto& candidate : choice.candidates) {
      if (candidate.name == choice.chosen) ms = candidate.ms;
    }
    const std::optional<double> shown = ms ? ms : choice.predictedMs;
    tactics.add({shortened(choice.fusedNode), choice.chosen, msText(shown), std::to_string(choice.candidates.size()),
                 howKnown(choice, ms)});
  }
  tactics.print();
  if (!built.isWritten)
    std::cout << fmt::format("{} was not written, because a pin marked obey is not obeyed\n", built.output);
  std::cout << fmt::format("{}: {} regions, {} distinct, {} on disk, {} of working memory\n", built.output,
                           report.regions, report.distinct, bytesText(built.bytes), bytesText(report.arenaBytes));
  const std::string equal = built.isOurs ? equalRegionsInWords(report.regions, report.distinct) : std::string();
  if (!equal.empty()) std::cout << equal << "\n";
}

/// Returns what a series says about one build between its directives and its time. Another compiler takes nothing over
/// from one build to the next: its answer is either kept, or it compiles all.
std::vector<std::string> workOf(const Built& built) {
  const BuildReport& report = built.report;
  if (!built.isOurs) return {std::to_string(report.regions), isFound(report) ? "found" : "compiled"};
  return {std::to_string(report.regions), std::to_string(report.compiled), std::to_string(report.measured),
          std::to_string(report.takenOver)};
}

void printSeries(const std::vector<Built>& builds) {
  const bool isOurs = builds.front().isOurs;
  std::vector<Table::Column> columns{{"directives"}, {"kernels", true}, {"answer"}};
  if (isOurs)
    columns = {{"directives"}, {"regions", true}, {"compiled", true}, {"measured", true}, {"taken over", true}};
  columns.insert(columns.end(), {{"time", true}, {"engine"}});
  Table table(std::move(columns));
  for (const Built& built : builds) {
    std::vector<std::string> cells{built.directives.empty() ? "as given" : built.directives};
    std::ranges::move(workOf(built), std::back_inserter(cells));
    cells.insert(cells.end(), {fmt::format("{:.3f} s", totalMs(built.phases) / 1000), engineText(built)});
    table.add(std::move(cells));
  }
  printTitle("Builds");
  table.print();
  if (isOurs)
    std::cout << "Equal regions are counted once. Regions taken over from an earlier build were neither compiled nor "
                 "measured.\n";
  printDecisions(builds);
  for (const Built& built : builds) printPinsMade(built);
}

void printDocument(const std::vector<Built>& builds, bool isSeries) {
  Json all = Json::array();
  for (const Built& built : builds) {
    Json json = toJson(built.report, built.phases, built.isWritten ? built.output : std::string(), built.bytes);
    if (!built.isOurs) json["pins"] = pinsMadeJson(*built.made);
    if (!isSeries) return printJson(json);
    json["directives"] = built.directives.empty() ? Json(nullptr) : Json(built.directives);
    all.push_back(std::move(json));
  }
  printJson({{"format", "fusescope.builds"}, {"version", 1}, {"builds", std::move(all)}});
}

/// The engine of `directives` lies beside the first one: "E-FILE.fse".
std::string outputBeside(const std::string& output, const std::string& directives) {
  const std::filesystem::path first(output);
  std::filesystem::path name = first.stem();
  name += "-";
  name += std::filesystem::path(directives).stem();
  name += first.extension();
  return (first.parent_path() / name).string();
}

/// Before anything is built: the files of --then are read, and none of the engines is written over another.
Result<std::vector<PlanOptions>> optionsOfThen(const BuildArguments& arguments, const Artifact& artifact) {
  const auto wrong = [](std::string message, const std::string& file, std::string help) {
    return Diagnostic{
        .message = std::move(message), .where = {.file = file, .attribute = "--then"}, .help = std::move(help)};
  };
  std::vector<PlanOptions> all;
  std::set<std::string> outputs = {arguments.output};
  for (const std::string& file : arguments.then) {
    if (artifact.kind != ArtifactKind::Model || artifact.session != nullptr)
      return wrong("a saved plan or a session already contains its directives; do not give others", arguments.path,
                   "Start from the model.");
    const std::string output = outputBeside(arguments.output, file);
    if (!outputs.insert(output).second)
      return wrong(fmt::format("two engines would be written to {}", output), file,
                   "Give the files of directives different names.");
    TRY(checkOutput(output, "--then", artifact, {}, arguments.then));
    PlanArguments plan = arguments.plan;
    plan.directivesFile = file;
    all.push_back(TRY(plan.options()));
  }
  return all;
}

/// Ends the processes of compilers that nothing uses, on the thread that it returns, while its caller does something
/// else. If a compiler is asked afterwards, it is started again.
[[nodiscard]] std::jthread endIdleProcesses() {
  return std::jthread([] {
    endIdleJobs();
    endIdleListeners();
  });
}

Result<Built> buildOne(const BuildArguments& arguments, const Artifact& artifact, const std::string& output,
                       PhaseClock& clock) {
  auto options = buildOptions(artifact, arguments.engine.threads, {}, clock.progress());
  options.measureTactics = arguments.measuresTactics;
  options.effortSeconds = arguments.effort;
  options.onlyMade = true;  // nothing runs: an engine of another compiler holds the plan and what was made of it
  options.packsWeights = false;
  const auto engine = TRY(underAssumedExtents(openEngine(artifact, options), *artifact.plan, false));
  clearProgressLine();
  Built built{.output = output, .isOurs = artifact.isOurs(), .made = engine->made()};
  built.isWritten = !reportUnobeyedPins(*built.made);
  if (built.isWritten) {
    options.progress("write", output);
    const std::jthread ending = endIdleProcesses();
    TRY(engine->save(output));
  }
  built.report = engine->report();
  built.phases = clock.phases();
  for (Decision& decision : typesNotGiven(*built.made)) built.report.decisions.push_back(std::move(decision));
  clearProgressLine();
  if (!built.isWritten) return built;
  std::error_code unknown;
  built.bytes = static_cast<std::int64_t>(std::filesystem::file_size(output, unknown));
  return built;
}

Result<int> build(const BuildArguments& arguments) {
  PhaseClock clock(progressLine());
  expectBuilds(arguments.engine.threads);
  const EngineFileExpected expected;
  const auto artifact = TRY(open(arguments.path, arguments.plan, &arguments.engine, clock.progress()));
  if (artifact.kind == ArtifactKind::Engine) {
    return Diagnostic{.message = "this is an engine already",
                      .where = {.file = arguments.path},
                      .help = "Give a model or a saved plan to build."};
  }
  TRY(checkAble(artifact, Ability::Keep, "keep an engine"));
  TRY(checkOutput(arguments.output, "--output", artifact, {}, arguments.then));
  const std::vector<PlanOptions> then = TRY(optionsOfThen(arguments, artifact));
  if (reportObeyRefusals(*artifact.plan)) return kDoesNotHold;
  std::vector<Built> builds = {TRY(buildOne(arguments, artifact, arguments.output, clock))};
  bool holds = builds.front().isWritten;
  Artifact last = artifact;
  for (std::size_t i = 0; i < then.size() && holds; ++i) {
    PhaseClock own(progressLine());
    last = TRY(openEdited(last, then[i], arguments.engine.backend, {}, own.progress()));
    clearProgressLine();
    holds = !reportObeyRefusals(*last.plan);
    if (!holds) break;
    const std::string& file = arguments.then[i];
    builds.push_back(TRY(buildOne(arguments, last, outputBeside(arguments.output, file), own)));
    builds.back().directives = file;
    holds = builds.back().isWritten;
  }
  if (arguments.json) {
    printDocument(builds, !then.empty());
  } else if (then.empty()) {
    printBuild(builds.front());
  } else {
    printSeries(builds);
  }
  return holds ? kDone : kDoesNotHold;
}

}  // namespace

Command buildCommand(CLI::App& app) {
  return commandOf<BuildSettings>(app, buildOperation(), build);
}

}  // namespace fusescope::cli
