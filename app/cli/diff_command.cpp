#include <fmt/format.h>

#include <iostream>

#include "app/cli/command.h"
#include "app/cli/side_arguments.h"
#include "diff/diff_plans.h"
#include "diff/difference_groups.h"
#include "diff/truncation_diff.h"
#include "session/diff_input.h"
#include "session/engine_prices.h"
#include "session/operations/diff_operation.h"

namespace fusescope::cli {
namespace {

/// The number of equal changes that are printed for people; --json and --all list all of them.
constexpr std::size_t kMostListed = 12;

using DiffArguments = ArgumentsOf<DiffSettings>;

Result<int> makeAndPrint(const DiffArguments& arguments) {
  auto a = TRY(open(arguments.a, TRY(planArguments(arguments.plan, arguments.planOfA, "--plan-a"))));
  auto b = TRY(open(arguments.b, TRY(planArguments(arguments.plan, arguments.planOfB, "--plan-b"))));
  for (Artifact* side : {&a, &b}) TRY(readBack(*side));
  const auto prices = pricesOf(*a.plan, a.backend);
  DiffInput inputOfA = diffInput(a), inputOfB = diffInput(b);
  if (!arguments.errorsOfA.empty()) TRY(addErrors(arguments.errorsOfA, inputOfA));
  if (!arguments.errorsOfB.empty()) TRY(addErrors(arguments.errorsOfB, inputOfB));
  const PlanDiff diff = TRY(diffPlans(inputOfA, inputOfB, prices.get()));
  const std::vector<DifferenceGroup> groups = groupDifferences(inputOfA, inputOfB, diff);
  TruncationDiff truncation;
  if (reportsEngines(a.cover()) || reportsEngines(b.cover())) truncation = compareTruncation(a.cover(), b.cover());
  if (arguments.json) {
    Json json = toJson(diff);
    json["groups"] = toJson(groups);
    if (!truncation.values.empty()) json["truncation"] = toJson(truncation);
    printJson(json);
  } else {
    const std::size_t most = arguments.all ? 0 : kMostListed;
    std::cout << printDiff(diff, most) << printTruncation(truncation, most) << printGroups(groups, most);
  }
  const bool isUnobeyedByA = reportUnobeyedPins(a.cover());
  if (reportUnobeyedPins(b.cover()) || isUnobeyedByA) return kDoesNotHold;
  return arguments.exitCode && !diff.same() ? kDoesNotHold : kDone;
}

}  // namespace

Command diffCommand(CLI::App& app) {
  return commandOf<DiffSettings>(app, diffOperation(), makeAndPrint);
}

}  // namespace fusescope::cli
