#include <fmt/format.h>

#include <iostream>
#include <memory>

#include "app/cli/side_arguments.h"
#include "diff/difference_groups.h"
#include "diff/plan_diff.h"
#include "diff/truncation_diff.h"
#include "session/diff_input.h"
#include "session/engine_prices.h"

namespace fusescope::cli {
namespace {

/// Of changes alike, so many are printed for people; --json and --all have all.
constexpr std::size_t kMostListed = 12;

struct Arguments {
  std::string a, b, planOfA, planOfB, errorsOfA, errorsOfB;
  bool json = false, all = false, exitCode = false;
  PlanArguments plan;
};

Result<int> makeAndPrint(const Arguments& arguments) {
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
  if (tellsEngines(a.cover()) || tellsEngines(b.cover())) truncation = compareTruncation(a.cover(), b.cover());
  if (arguments.json) {
    Json json = toJson(diff);
    json["groups"] = toJson(groups);
    if (!truncation.values.empty()) json["truncation"] = toJson(truncation);
    printJson(json);
  } else {
    const std::size_t most = arguments.all ? 0 : kMostListed;
    std::cout << printDiff(diff, most) << printTruncation(truncation, most) << printGroups(groups, most);
  }
  return arguments.exitCode && !diff.same() ? kDoesNotHold : kDone;
}

}  // namespace

Command diffCommand(CLI::App& app) {
  auto* verb = app.add_subcommand("diff", "what differs between two plans, engines or networks, and what caused it");
  auto arguments = std::make_shared<Arguments>();
  verb->add_option("A", arguments->a, "a model, a saved plan, an engine or a session")->required()->type_name("A");
  verb->add_option("B", arguments->b, "what to compare it with")->required()->type_name("B");
  verb->add_option("--plan-a", arguments->planOfA, "plan options of A alone, in quotes")->type_name("\"OPTIONS\"");
  verb->add_option("--plan-b", arguments->planOfB, "plan options of B alone, in quotes")->type_name("\"OPTIONS\"");
  verb->add_option("--errors-a", arguments->errorsOfA, "errors of A's plan: what errors --json wrote")->type_name("F");
  verb->add_option("--errors-b", arguments->errorsOfB, "the same of B")->type_name("F");
  verb->add_flag("--exit-code", arguments->exitCode, "exit with 1 where they differ, times and errors apart");
  verb->add_flag("--all", arguments->all, "list every change, however many are alike");
  verb->add_flag("--json", arguments->json, "print JSON: core/diff/FORMAT.md");
  arguments->plan.declare(*verb);
  return {verb, [arguments] { return makeAndPrint(*arguments); }};
}

}  // namespace fusescope::cli
