#include "planning/prices/body_time.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "planning/plan_totals.h"
#include "planning/structure.h"

namespace fusescope {
namespace {

/// Returns the value of an operand that is a single number or truth value for all inputs.
std::optional<std::int64_t> constantNumber(const Graph& graph, ValueId value) {
  const Tensor* tensor = graph.constantData(value);
  if (tensor == nullptr || tensor->count() != 1) return std::nullopt;
  if (tensor->type() == DataType::Bool) return *tensor->bytes() != std::byte{0} ? 1 : 0;
  if (tensor->type() == DataType::I64) return tensor->data<std::int64_t>()[0];
  if (tensor->type() == DataType::I32) return tensor->data<std::int32_t>()[0];
  return std::nullopt;
}

const Graph* bodyGraph(const Node& node) {
  const auto found = node.attributes.find("body");
  const auto* body = found == node.attributes.end() ? nullptr : std::get_if<Subgraph>(&found->second);
  return body == nullptr ? nullptr : body->graph.get();
}

/// Returns the value of which `value` is a copy, because the output of a graph is never its input itself.
ValueId source(const Graph& graph, ValueId value) {
  for (NodeId node = graph.value(value).producer; node.valid() && graph.node(node).is("Identity");
       node = graph.value(value).producer)
    value = graph.node(node).input(0);
  return value;
}

std::optional<std::int64_t> iterationsOfLoop(const Graph& graph, const Node& node) {
  const Graph* body = bodyGraph(node);
  if (body == nullptr || body->outputs().empty() || body->inputs().size() < 2) return std::nullopt;
  const auto most = constantNumber(graph, node.input(0));
  const auto first = node.input(1).valid() ? constantNumber(graph, node.input(1)) : std::optional<std::int64_t>(1);
  if (!first) return std::nullopt;
  if (*first == 0) return 0;
  if (!most) return std::nullopt;
  const ValueId goOn = source(*body, body->outputs().front());
  const bool passedOn = goOn == body->inputs()[1];
  const auto given = passedOn ? first : constantNumber(*body, goOn);
  if (!given) return std::nullopt;
  return std::clamp<std::int64_t>(*most, 0, *given != 0 ? std::numeric_limits<std::int64_t>::max() : 1);
}

std::optional<std::int64_t> iterationsOfScan(const ChosenExtents& extents, const Node& node) {
  const auto scanned = static_cast<std::size_t>(node.intAttribute("num_scan_inputs", 0));
  if (scanned == 0 || scanned > node.inputs.size()) return std::nullopt;
  const auto dims = extents.of(node.inputs[node.inputs.size() - scanned]);
  const auto axes = node.intsAttribute("scan_input_axes");
  std::int64_t axis = axes.empty() ? 0 : axes.front();
  if (!dims) return std::nullopt;
  if (axis < 0) axis += std::ssize(*dims);
  if (axis < 0 || axis >= std::ssize(*dims)) return std::nullopt;
  return (*dims)[static_cast<std::size_t>(axis)];
}

/// Returns the known time of a body's plan, with its source and spread.
std::optional<BodyTime> timeOfPlan(const Plan& plan) {
  const PredictedTime time = predictedTime(plan);
  if (time.unknown > 0) return std::nullopt;
  BodyTime all{.leastMs = time.leastMs, .mostMs = time.mostMs, .how = PriceSource::Measured};
  double off = 0;
  const auto add = [&](PriceSource how, double ms, double spread) {
    if (how == PriceSource::Fitted) all.how = PriceSource::Fitted;
    off += ms * spread;
  };
  for (const FusedNode& fused : plan.fusedNodes) {
    const bool ranges = fused.bodyTime && !fused.predictedMs;
    if (ranges)
      add(fused.bodyTime->how, fused.bodyTime->mostMs, fused.bodyTime->spread);
    else
      add(fused.predictedHow, fused.predictedMs.value_or(0), fused.predictedSpread);
  }
  for (const PlannedCast& cast : plan.casts) add(cast.predictedHow, cast.predictedMs.value_or(0), cast.predictedSpread);
  all.spread = all.mostMs > 0 ? off / all.mostMs : 0;
  return all;
}

/// Returns the time of an If from those of its branches, of which either may be taken.
BodyTime eitherOf(const BodyTime& a, const BodyTime& b) {
  return {.leastMs = std::min(a.leastMs, b.leastMs),
          .mostMs = std::max(a.mostMs, b.mostMs),
          .how = a.how == PriceSource::Fitted ? a.how : b.how,
          .spread = std::max(a.spread, b.spread)};
}

}  // namespace

std::optional<std::int64_t> iterationsOf(const ChosenExtents& extents, const Graph& graph, const Node& node) {
  if (node.is("Loop")) return iterationsOfLoop(graph, node);
  return node.is("Scan") ? iterationsOfScan(extents, node) : std::nullopt;
}

bool runsByBodies(const Plan& plan, const FusedNode& fused) {
  bool any = false;
  for (const auto& [key, attribute] : plan.graph().node(fused.root).attributes) {
    if (!std::holds_alternative<Subgraph>(attribute)) continue;
    if (plan.bodyPlan(fused.root, key) == nullptr) return false;
    any = true;
  }
  return any;
}

std::optional<BodyTime> bodyTimeOf(const Plan& plan, const FusedNode& fused) {
  if (!runsByBodies(plan, fused)) return std::nullopt;
  std::optional<BodyTime> time;
  for (const CoverBody& body : plan.bodies) {
    if (body.holder != fused.root) continue;
    const auto one = timeOfPlan(plannedBody(body));
    if (!one) return std::nullopt;
    time = time ? eitherOf(*time, *one) : *one;
  }
  const Node& node = plan.graph().node(fused.root);
  if (!time || node.is("If")) return time;
  time->iterations = iterationsOf(*plan.structure->usual, plan.graph(), node);
  time->perIteration = !time->iterations;
  time->leastMs *= static_cast<double>(time->iterations.value_or(1));
  time->mostMs *= static_cast<double>(time->iterations.value_or(1));
  return time;
}

Price priceOf(const std::optional<BodyTime>& time) {
  if (!time || !time->single()) return {};
  return {.ms = time->leastMs, .how = time->how, .spread = time->spread, .from = "the plans of its bodies"};
}

}  // namespace fusescope
