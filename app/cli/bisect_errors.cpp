#include "app/cli/bisect_errors.h"

#include <fmt/format.h>

#include <cmath>
#include <iostream>

#include "app/cli/command.h"
#include "app/cli/table.h"
#include "base/text.h"

namespace fusescope::cli {
namespace {

std::string errorText(double error) {
  if (std::isnan(error)) return "not tried";
  return std::isfinite(error) ? fmt::format("{:.3g}", error) : "not finite";
}

std::string whatCameOf(const BisectStage& stage) {
  switch (stage.found.end) {
    case CulpritEnd::Found:
      return fmt::format("right without {} of them", stage.found.off.size());
    case CulpritEnd::NotWrong:
      return "right";
    case CulpritEnd::NoCulprit:
      return fmt::format("wrong without all of them, too ({})", errorText(stage.found.after));
    case CulpritEnd::OutOfBudget:
      return "not searched to the end";
  }
  return {};
}

void printStages(const BisectReport& report) {
  for (const BisectLevel& level : report.levels)
    std::cout << fmt::format("at level {} the error is {}\n", level.level, errorText(level.error));
  if (report.stages.empty()) return;
  printTitle("What was switched off");
  Table table({{"what"}, {"of", true}, {"builds", true}, {"so that it is"}});
  for (const BisectStage& stage : report.stages)
    table.add(
        {stage.what, std::to_string(stage.switches.size()), std::to_string(stage.found.builds), whatCameOf(stage)});
  table.print();
}

void printCulprits(const BisectReport& report, double tolerance) {
  const BisectStage& stage = *report.stage();
  std::vector<std::string> names;
  for (const std::uint32_t each : stage.found.off) names.push_back(stage.switches[each]);
  std::cout << fmt::format("found: without {} {} the error is {} instead of {} (at most {} is right)\n", stage.what,
                           joined(names), errorText(stage.found.after), errorText(report.before), errorText(tolerance));
  if (stage.found.minimal) std::cout << "none of them can stay: each was tried\n";
  if (report.honoured)
    std::cout << (*report.honoured ? "the compiler says itself that they were left out\n"
                                   : "but the compiler says that it took them all the same\n");
  std::cout << "leave them out by: " << joined(report.options, " ") << "\n";
}

void printForPeople(const BisectReport& report, const BisectOptions& options) {
  printStages(report);
  switch (report.end) {
    case CulpritEnd::Found:
      printCulprits(report, options.tolerance);
      break;
    case CulpritEnd::NotWrong:
      std::cout << fmt::format("nothing is wrong: the error is {}, and at most {} is right\n", errorText(report.before),
                               errorText(options.tolerance));
      break;
    case CulpritEnd::NoCulprit:
      std::cout << fmt::format("no culprit: the error is {}, and nothing of what can be switched off makes it right\n",
                               errorText(report.before));
      break;
    case CulpritEnd::OutOfBudget:
      std::cout << fmt::format("the search was ended by its budget; the error is {}\n", errorText(report.before));
      break;
  }
  std::cout << fmt::format("{}, {:.1f} s\n", counted(report.builds, "build"), report.seconds);
}

}  // namespace

Result<int> bisectAndPrint(const Artifact& artifact, const Samples& samples, const BisectOptions& options, bool json) {
  const BisectReport report = TRY(bisectErrors(artifact, samples, options));
  clearProgressLine();
  if (json) {
    printJson(toJson(report, artifact, samples, options));
  } else {
    printForPeople(report, options);
    printAboutInputs(samples);
  }
  return report.end == CulpritEnd::Found || report.end == CulpritEnd::NotWrong ? kDone : kDoesNotHold;
}

}  // namespace fusescope::cli
