#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "planning/plan_json.h"
#include "tests/property/graph_maker.h"
#include "tests/property/kernel_checks.h"
#include "tests/property/plan_checks.h"
#include "tests/property/random_options.h"
#include "tests/property/seeds.h"

namespace fusescope::property {
namespace {

/// What a failure is about, shown for one seed alone.
struct Case {
  std::shared_ptr<const Model> model;
  PlanOptions options;
};

std::string caseText(const Case& about) {
  if (about.model == nullptr) return {};
  const auto plan = makePlan(about.model, about.options);
  return printGraph(*about.model->graph) + (plan.ok() ? printPlan(*plan.value()) : plan.error().text());
}

struct Counts {
  std::size_t networks = 0, plans = 0, contradictions = 0, engines = 0, prices = 0;
  KernelCounts kernels;
};

std::shared_ptr<const Model> randomModel(std::uint64_t seed, Dice& dice, NetworkKind kind) {
  GraphMaker maker(seed, kind);
  return maker.make(5 + dice.below(dice.oneIn(4) ? 56 : 20));
}

std::string optionsText(const PlanOptions& options) {
  std::string text = "--target " + options.target;
  for (const DataType type : options.precisions) text += fmt::format(" --precision {}", name(type));
  for (const Directive& directive : options.directives) text += " " + optionText(directive);
  return text;
}

/// A plan that passes the verifier, or nothing where two directives contradict each other; problems go to `problem`.
std::shared_ptr<const Plan> planOf(const std::shared_ptr<const Model>& model, const PlanOptions& options,
                                   Counts& counts, std::string& problem) {
  const auto plan = makePlan(model, options);
  if (!plan.ok()) {
    const std::string text = plan.error().text();
    const bool names = text.find("contradict each other") != std::string::npos && !plan.error().where.node.empty();
    if (!names) problem = "refused without a good reason: " + text;
    counts.contradictions += names ? 1 : 0;
    return nullptr;
  }
  ++counts.plans;
  if (const Status verified = verifyPlan(*plan.value()); !verified.ok()) problem = verified.error().text();
  return plan.value();
}

/// No engine is built of a plan that narrows integers of operators that insist on 64 bits.
bool isRunnable(const Plan& plan) {
  return std::ranges::none_of(plan.truncation.constants,
                              [](const TruncatedValue& value) { return isInteger(value.from); });
}

/// Any network, any directive, any target.
std::string checkAny(std::uint64_t seed, Dice& dice, Counts& counts, Case& about) {
  const auto model = randomModel(seed, dice, {.runnable = !dice.oneIn(4)});
  if (model == nullptr) return "the network could not be made";
  ++counts.networks;
  std::string problem;
  std::shared_ptr<const Plan> other;
  for (int turn = 0; turn < 3 && problem.empty(); ++turn) {
    const PlanOptions options = randomOptions(dice, *model->graph);
    about = {model, options};
    const auto plan = planOf(model, options, counts, problem);
    if (plan == nullptr || !problem.empty()) continue;
    problem = checkRepeats(*plan, options, other.get());
    if (problem.empty()) problem = checkCosts(*plan, counts.prices);
    if (problem.empty() && isRunnable(*plan)) problem = checkKernels(*plan, dice, false, counts.kernels);
    other = plan;
  }
  return problem;
}

/// A network of f32 throughout on a cpu, nothing lowered.
std::string checkUnlowered(std::uint64_t seed, Dice& dice, Counts& counts, Case& about) {
  const auto model = randomModel(seed, dice, {.f32Only = true});
  if (model == nullptr) return "the network could not be made";
  ++counts.networks;
  const PlanOptions options = unloweredOptions(dice, *model->graph);
  about = {model, options};
  std::string problem;
  const auto plan = planOf(model, options, counts, problem);
  if (plan == nullptr || !problem.empty()) return problem;
  ++counts.engines;
  problem = checkEngine(plan, dice);
  return problem.empty() ? checkKernels(*plan, dice, seed % 8 == 0, counts.kernels) : problem;
}

TEST(PropertyPlans, HoldForRandomNetworksWishesAndTargets) {
  const Seeds seeds = Seeds::asked(1200);
  Counts counts;
  const int bad = seeds.run([&](std::uint64_t seed) {
    Dice dice(seed * 7919 + 1);
    Case about;
    std::string problem =
        seed % 4 == 0 ? checkUnlowered(seed, dice, counts, about) : checkAny(seed, dice, counts, about);
    if (problem.empty()) return problem;
    if (seeds.cases == 1) fmt::print("{}", caseText(about));
    return problem + ": " + optionsText(about.options);
  });
  fmt::print(
      "suite: property: {} networks, {} plans ({} directives contradicted each other), {} priced directives, {} "
      "kernels beside the emulation ({} not runnable), {} native kernels, {} engines beside their nodes, {} bad\n",
      counts.networks, counts.plans, counts.contradictions, counts.prices, counts.kernels.kernels,
      counts.kernels.unknown, counts.kernels.native, counts.engines, bad);
}

}  // namespace
}  // namespace fusescope::property
