#include "app/cli/bisect_errors.h"

#include <fmt/format.h>

#include <iostream>

#include "app/cli/command.h"
#include "app/cli/read_back.h"
#include "app/cli/table.h"
#include "base/text.h"

namespace fusescope::cli {
namespace {

void printStages(const BisectReport& report) {
  for (const BisectLevel& level : report.levels)
    std::cout << fmt::format("at level {} the error is {}\n", level.level, bisectErrorText(level.error));
  if (report.stages.empty()) return;
  printTitle("What was switched off");
  Table table({{"what"}, {"of", true}, {"builds", true}, {"so that it is"}});
  for (const BisectStage& stage : report.stages)
    table.add({stage.what, std::to_string(stage.switches.size()), std::to_string(stage.found.builds), inWords(stage)});
  table.print();
}

void printForPeople(const BisectReport& report, const BisectOptions& options) {
  printStages(report);
  for (const std::string& line : inWords(report, options.tolerance)) std::cout << line << "\n";
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
    printTypesNotGiven(artifact.cover());
    printAboutInputs(samples);
  }
  return report.end == CulpritEnd::Found || report.end == CulpritEnd::NotWrong ? kDone : kDoesNotHold;
}

}  // namespace fusescope::cli
