#include "session/operations/report_operation.h"

#include "session/operations/operation.h"

namespace fusescope {

std::vector<Option> ReportSettings::options() {
  return {{.name = "A",
           .value = &a,
           .argument = "A",
           .help = "For a session: the number of a run. For other files: the file to compare with."},
          {.name = "B",
           .value = &b,
           .argument = "B",
           .help = "For a session: the number of the run that A is compared with."},
          {.name = "plan-a",
           .value = &planOfA,
           .argument = "\"OPTIONS\"",
           .help = "Plan options for the first file only, in quotes."},
          {.name = "plan-b",
           .value = &planOfB,
           .argument = "\"OPTIONS\"",
           .help = "Plan options for the second file only, in quotes."},
          {.name = "output",
           .value = &output,
           .argument = "REPORT.html",
           .help = "The HTML file to write.",
           .letter = 'o'}};
}

const Operation& reportOperation() {
  static const Operation operation{.name = "report",
                                   .summary = "Write one HTML file about a plan or run, or about the difference of two",
                                   .source = {"MODEL|ENGINE|SESSION", "A model, a saved plan, an engine or a session."},
                                   .groups = {OptionGroup::Json, OptionGroup::Plan},
                                   .usualOptions = copyOfUsualOptions<ReportSettings>,
                                   .prints = "fusescope.report",
                                   .writes = "--output: the report"};
  return operation;
}

}  // namespace fusescope
