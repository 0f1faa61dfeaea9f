#include "tests/property/plan_checks.h"

#include "base/json.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace fusescope::property {

namespace {

std::int64_t castBytesOf(const Plan& plan) {
  std::int64_t bytes = 0;
  for (const PlannedCast& cast : plan.casts) bytes += cast.bytes.value_or(0);
  return bytes;
}

std::int64_t bytesOf(const Plan& plan) {
  std::int64_t bytes = 0;
  for (const FusedNode& fused : plan.fusedNodes) bytes += fused.bytes.value_or(0);
  return bytes + castBytesOf(plan);
}

std::set<std::string> mergedOf(const Plan& plan) {
  std::set<std::string> merged;
  for (const FusedNode& fused : plan.fusedNodes)
    if (fused.nodes.size() > 1) merged.insert(fused.name);
  return merged;
}

/// What `arguments` of a decision say against what two plans say.
std::string costDifference(const Json& arguments, const Plan& with, const Plan& without) {
  const auto differs = [&](const std::string& key, std::int64_t right) {
    const std::int64_t said = arguments.at(key).get<std::int64_t>();
    return said == right ? std::string() : fmt::format("{} says {} where planning without gives {}", key, said, right);
  };
  const auto count = [](std::size_t now, std::size_t before) {
    return static_cast<std::int64_t>(now) - static_cast<std::int64_t>(before);
  };
  std::string problem = differs("kernels", count(with.fusedNodes.size(), without.fusedNodes.size()));
  if (problem.empty()) problem = differs("casts", count(with.casts.size(), without.casts.size()));
  if (problem.empty()) problem = differs("bytes", bytesOf(with) - bytesOf(without));
  if (problem.empty()) problem = differs("cast_bytes", castBytesOf(with) - castBytesOf(without));
  if (!problem.empty()) return problem;
  std::set<std::string> lost = mergedOf(without);
  for (const std::string& still : mergedOf(with)) lost.erase(still);
  std::set<std::string> said;
  for (const Json& name : arguments.at("lost_fusions")) said.insert(name.get<std::string>());
  if (said == lost) return {};
  return fmt::format("lost_fusions says {}, planning without: {}", arguments.at("lost_fusions").dump(),
                     Json(lost).dump());
}

std::string costProblem(const Plan& plan, const std::set<Cause>& removed, const Decision& decision) {
  PlanOptions fewer = plan.options;
  std::erase_if(fewer.directives, [&](const Directive& directive) { return removed.contains(causeOf(directive)); });
  const auto without = makePlan(plan.model, fewer, nullptr, {}, &plan);
  if (!without.ok()) return {};  // of two that contradict each other in a third's place: no plan to compare with
  const std::string problem = costDifference(decision.arguments.toJson(), plan, *without.value());
  std::string names;
  for (const Cause& directive : removed) names += " " + directive.text();
  return problem.empty() ? problem : fmt::format("{} of{}: {}", decision.code, names, problem);
}

}  // namespace

std::string checkRepeats(const Plan& plan, const PlanOptions& options, const Plan* other) {
  const std::string text = toJson(plan).dump();
  for (const Plan* previous : {static_cast<const Plan*>(nullptr), &plan, other}) {
    const auto again = makePlan(plan.model, options, nullptr, {}, previous);
    if (!again.ok()) return "planned once and not again: " + again.error().text();
    if (toJson(*again.value()).dump() != text)
      return previous == nullptr ? "two runs differ" : "a run with a previous plan differs";
  }
  const auto back = planFromJson(Json::parse(text), plan.model);
  if (!back.ok()) return "cannot be read back: " + back.error().text();
  Json printed = toJson(*back.value());
  Json original = Json::parse(text);
  printed.erase("source");
  original.erase("source");
  return printed == original ? std::string() : "reads back as another";
}

std::string checkCosts(const Plan& plan, std::size_t& counted) {
  std::set<Cause> priced;
  for (const Decision& decision : plan.decisions) {
    if (decision.code != "precision.pin_free" && decision.code != "precision.pin_price") continue;
    ++counted;
    priced.insert(decision.by);
    if (std::string problem = costProblem(plan, {decision.by}, decision); !problem.empty()) return problem;
  }
  for (const Decision& decision : plan.decisions)
    if (decision.code == "precision.pins_together")
      if (std::string problem = costProblem(plan, priced, decision); !problem.empty()) return problem;
  return {};
}

}  // namespace fusescope::property
