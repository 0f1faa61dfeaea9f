#include "engine/tactics/worth_measuring.h"

#include <algorithm>
#include <limits>

namespace fusescope {
namespace {

// Fewer than for the plan itself, because here a choice that is nearly the cheapest is good enough.
constexpr std::size_t kMostStates = 32;
constexpr int kMostPricings = 8;     // of the cheapest choices, until all their conversions are measured
constexpr double kSamePrice = 1e-6;  // a relative difference

FormatProblem withoutAssumed(const PartlyMeasuredProblem& partly) {
  FormatProblem problem = partly.problem;
  for (std::size_t node = 0; node < problem.nodes.size(); ++node) {
    std::vector<FormatProblem::Way>& ways = problem.nodes[node].ways;
    std::vector<FormatProblem::Way> kept;
    for (std::size_t way = 0; way < ways.size(); ++way)
      if (!partly.isAssumed[node][way]) kept.push_back(std::move(ways[way]));
    ways = std::move(kept);
  }
  return problem;
}

std::vector<std::size_t> nodesWithAssumedWays(const PartlyMeasuredProblem& partly, const FormatPlan& plan) {
  std::vector<std::size_t> nodes;
  for (std::size_t node = 0; node < plan.ways.size(); ++node)
    if (partly.isAssumed[node][plan.ways[node]]) nodes.push_back(node);
  return nodes;
}

}  // namespace

WorthMeasuring worthMeasuring(const PartlyMeasuredProblem& partly) {
  FormatProblem all = partly.problem, certain = withoutAssumed(partly);
  const auto planned = [&](FormatProblem& problem) {
    problem.conversionMs = partly.leastConversionMs;
    FormatPlan plan = planFormats(problem, kMostStates);
    problem.conversionMs = partly.problem.conversionMs;
    return plan;
  };
  WorthMeasuring worth{.ms = std::numeric_limits<double>::infinity()};
  double leastMs = worth.ms;
  bool isSettled = false;
  for (int i = 0; i < kMostPricings && !isSettled; ++i) {
    // Pricing the choices again measures the conversions that they use.
    const FormatPlan without = planned(certain);
    const double msWithout = priceFormats(certain, without.ways).ms;
    worth.ms = std::min(worth.ms, msWithout);
    isSettled = msWithout <= without.ms * (1 + kSamePrice);
    const FormatPlan withAssumed = planned(all);
    std::vector<std::size_t> nodes = nodesWithAssumedWays(partly, withAssumed);
    if (nodes.empty()) continue;
    const double ms = priceFormats(all, withAssumed.ways).ms;
    isSettled = isSettled && ms <= withAssumed.ms * (1 + kSamePrice);
    if (ms >= leastMs) continue;
    leastMs = ms;
    worth.nodes = std::move(nodes);
  }
  if (worth.nodes.empty() || leastMs >= worth.ms) return {};
  worth.savedMs = worth.ms - leastMs;
  return worth;
}

}  // namespace fusescope
