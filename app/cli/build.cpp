#include <fmt/format.h>

#include <filesystem>
#include <iostream>

#include "app/cli/command.h"
#include "app/cli/table.h"
#include "base/phase_clock.h"
#include "compilers/probed/next_build.h"
#include "engine/described_model.h"
#include "session/operations/build_operation.h"

namespace fusescope::cli {
namespace {

using Arguments = ArgumentsOf<BuildSettings>;

void printForPeople(const BuildReport& report, const std::vector<BuildPhase>& times, const std::string& output,
                    std::int64_t bytes) {
  printTitle("Phases");
  Table phases({{"phase"}, {"time", true}});
  for (const auto& phase : times) phases.add({phase.name, msText(phase.ms)});
  for (const CompilerPhase& phase : report.compilerPhases)
    phases.add({"the compiler's " + phase.name, msText(phase.ms)});
  phases.print();
  if (report.compilerPeakBytes > 0)
    std::cout << "the compiler's process had at most " << bytesText(report.compilerPeakBytes) << " of memory\n";
  for (const Decision& decision : report.decisions)
    if (decision.code == "cache.found" || decision.code == "cache.entry_damaged")
      std::cout << message(decision) << "\n";
  printTitle("Tactics");
  Table tactics({{"fused node"}, {"chosen"}, {"time", true}, {"of", true}, {"measured"}});
  for (const auto& choice : report.tactics) {
    std::optional<double> ms;
    for (const auto& candidate : choice.candidates) {
      if (candidate.name == choice.chosen) ms = candidate.ms;
    }
    tactics.add({shortened(choice.fusedNode), choice.chosen, msText(ms), std::to_string(choice.candidates.size()),
                 choice.fromCache ? "before"
                 : ms             ? "now"
                                  : "no"});
  }
  tactics.print();
  std::cout << fmt::format("{}: {} regions, {} distinct, {} on disk, {} of weights, {} of working memory\n", output,
                           report.regions, report.distinct, bytesText(bytes), bytesText(report.weightBytes),
                           bytesText(report.arenaBytes));
}

Result<int> build(const Arguments& arguments) {
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
  TRY(checkOutput(arguments.output, "--output", artifact));
  if (reportObeyRefusals(*artifact.plan)) return kDoesNotHold;
  auto options = buildOptions(artifact, arguments.engine.threads, {}, clock.progress());
  options.measureTactics = arguments.measuresTactics;
  options.onlyMade = true;  // nothing runs: an engine of another compiler holds the plan and what was made of it
  const auto engine = TRY(underAssumedExtents(openEngine(artifact, options), *artifact.plan, false));
  options.progress("write", arguments.output);
  {
    const std::jthread ending = endIdleProcesses();
    TRY(engine->save(arguments.output));
  }
  const auto phases = clock.phases();
  clearProgressLine();
  std::error_code unknown;
  const auto bytes = static_cast<std::int64_t>(std::filesystem::file_size(arguments.output, unknown));
  if (arguments.json) {
    printJson(toJson(engine->report(), phases, arguments.output, bytes));
  } else {
    printForPeople(engine->report(), phases, arguments.output, bytes);
  }
  return kDone;
}

}  // namespace

Command buildCommand(CLI::App& app) {
  return commandOf<BuildSettings>(app, buildOperation(), build);
}

}  // namespace fusescope::cli
