#include "app/cli/command.h"
#include "session/refit.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <utility>

#include "app/cli/table.h"
#include "base/mapped_file.h"
#include "base/phase_clock.h"
#include "base/text.h"
#include "cache/process_store.h"
#include "session/documents/decisions_about.h"
#include "session/operations/refit_operation.h"

namespace fusescope::cli {
namespace {

namespace fs = std::filesystem;

using RefitArguments = ArgumentsOf<RefitSettings>;

/// Returns the file given by -o; otherwise a file beside the network with the same name and the ending .fse.
Result<std::string> outputOf(const RefitArguments& arguments, const Artifact& engine) {
  if (!arguments.output.empty()) {
    TRY(checkOutput(arguments.output, "--output", engine, {}, {arguments.weights}));
    return arguments.output;
  }
  const std::string path = fs::path(arguments.weights).replace_extension(".fse").string();
  std::error_code missing;
  if (fs::exists(path, missing))
    return Diagnostic{.message = "exists already, and is not overwritten without being asked",
                      .where = {.file = path},
                      .help = "Give the engine file to write with -o."};
  TRY(checkOutput(path, "--output", engine));
  return path;
}

/// Returns whether the decision is printed for people; --json lists all decisions.
bool isListed(const Decision& decision) {
  return decision.kind == DecisionKind::Build || decision.kind == DecisionKind::Quantize || isAboutStore(decision) ||
         decision.code == "tactic.missing" || decision.code == "tactic.failed";
}

void printDecisions(const std::vector<Decision>& decisions) {
  constexpr std::int64_t kMostPrinted = 20;
  std::int64_t listed = 0;
  for (const Decision& decision : decisions) {
    if (!isListed(decision) || ++listed > kMostPrinted) continue;
    const std::string subject =
        decision.subjects.empty() ? std::string() : shortened(decision.subjects.front().text()) + ": ";
    std::cout << fmt::format("{}{} ({})\n", subject, message(decision), decision.code);
  }
  if (listed > kMostPrinted) std::cout << fmt::format("… and {} more; --json has all\n", listed - kMostPrinted);
}

void printForPeople(const Refit& refit, const std::vector<BuildPhase>& phases, const std::string& output,
                    std::int64_t bytes) {
  printTitle("Phases");
  Table table({{"phase"}, {"time", true}});
  for (const BuildPhase& phase : phases) table.add({phase.name, msText(phase.ms)});
  table.print();
  const WeightsComparison& network = refit.network;
  std::cout << fmt::format("{}: {} with the weights of {}, {} on disk\n", output, refit.engine, refit.weights,
                           bytesText(bytes));
  if (refit.sameWeights()) {
    std::cout << "the weights are equal\n";
  } else {
    std::cout << fmt::format("{} of {} changed, {} of {}\n", std::ssize(network.changed),
                             counted(network.constants, "constant"), bytesText(network.changedBytes),
                             bytesText(network.bytes));
  }
  const RefitMade& made = refit.anew;
  if (!refit.compiledAgain)
    std::cout << fmt::format("{} as before, {} chosen again; {} of code made\n", counted(made.kernels, "tactic"),
                             made.chosenAnew, counted(made.code, "piece"));
  printDecisions(refit.decisions);
}

/// Prints on standard error what differs, and once what would help, because that is the same for all differences.
void printDifferences(const Refit& refit) {
  std::string help;
  for (const auto* differences : {&refit.network.differences, &refit.planDifferences}) {
    for (Diagnostic difference : *differences) {
      const std::string own = std::exchange(difference.help, {});
      if (help.empty()) help = own;
      std::cerr << fmt::format("fusescope: {}\n", difference.text());
    }
  }
  if (refit.network.differences.size() >= kMostDifferences) std::cerr << "fusescope: … and there may be more\n";
  std::cerr << fmt::format("fusescope: {}\n", help);
}

Result<int> refit(const RefitArguments& arguments) {
  if (!arguments.cache.empty()) useStore(*cacheModeFromName(arguments.cache));
  PhaseClock clock(progressLine());
  const auto engine = TRY(openToRefit(arguments.engineFile, clock.progress()));
  const std::string output = TRY(outputOf(arguments, engine));
  auto refitted = refitEngine(engine, arguments.weights, {.threads = arguments.threads, .progress = clock.progress()});
  if (!refitted.ok()) {
    clearProgressLine();
    return std::move(refitted).error();
  }
  const Refit refit = std::move(refitted).value();
  if (!refit.ok()) {
    clearProgressLine();
    printDifferences(refit);
    if (arguments.json) printJson(toJson(refit, clock.phases(), {}, 0));
    return kDoesNotHold;
  }
  Artifact made{.path = refit.weights, .plan = refit.file.plan};
  made.files = identitiesOf(refit.file.plan->model->files);
  TRY(checkOutput(output, "--output", made));  // the files include those of external data
  clock.progress()("write", output);
  TRY(refit.save(output));
  const auto phases = clock.phases();
  clearProgressLine();
  std::error_code unknown;
  const auto bytes = static_cast<std::int64_t>(fs::file_size(output, unknown));
  arguments.json ? printJson(toJson(refit, phases, output, bytes)) : printForPeople(refit, phases, output, bytes);
  return kDone;
}

}  // namespace

Command refitCommand(CLI::App& app) {
  return commandOf<RefitSettings>(app, refitOperation(), refit);
}

}  // namespace fusescope::cli
