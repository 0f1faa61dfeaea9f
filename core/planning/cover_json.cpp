#include "planning/cover_json.h"

#include <algorithm>

#include "ir/graph.h"
#include "planning/fused_node_facts.h"
#include "planning/plan_options_json.h"
#include "planning/read_back/read_back_plan.h"

namespace fusescope {

namespace {

/// Adds the keys that kernels and conversions have in common.
template <class T>
void addPrediction(Json& json, const T& priced) {
  const bool known = priced.predictedMs.has_value();
  json["predicted_ms"] = jsonOrNull(priced.predictedMs);
  json["predicted_how"] = known ? Json(name(priced.predictedHow)) : Json(nullptr);
  json["predicted_spread"] = known ? jsonNumber(priced.predictedSpread) : Json(nullptr);
}

void addRange(Json& json, const std::optional<CostRange>& range, bool work) {
  if (!range) return;
  if (work) {
    json["flops_least"] = jsonOrNull(range->least.flops);
    json["flops_most"] = jsonOrNull(range->most.flops);
  }
  json["bytes_least"] = jsonOrNull(range->least.bytes);
  json["bytes_most"] = jsonOrNull(range->most.bytes);
  json["predicted_ms_least"] = jsonOrNull(range->least.ms);
  json["predicted_ms_most"] = jsonOrNull(range->most.ms);
}

Json inputSpecJson(const InputSpec& spec) {
  return {{"name", spec.name}, {"type", toText(spec.dtype)}, {"min", spec.min}, {"opt", spec.opt},
          {"max", spec.max},   {"source", spec.source}};
}

}  // namespace

Json totalsJson(const PlanTotals& totals) {
  return {{"fused_nodes", totals.fusedNodes},
          {"casts", totals.casts},
          {"flops", jsonOrNull(totals.flops)},
          {"bytes", jsonOrNull(totals.bytes)}};
}

Json toJson(const BodyTime& time) {
  return {{"least_ms", jsonNumber(time.leastMs)},
          {"most_ms", jsonNumber(time.mostMs)},
          {"how", name(time.how)},
          {"spread", jsonNumber(time.spread)},
          {"iterations", jsonOrNull(time.iterations)},
          {"per_iteration", time.perIteration}};
}

Json toJson(const Cover& cover, const SegmentBorder& border) {
  Json conversion = nullptr;
  if (border.conversion != nullptr)
    conversion = {{"from", toText(border.conversion->from)},
                  {"to", toText(border.conversion->to)},
                  {"bytes", jsonOrNull(border.conversion->bytes)}};
  Json json = {{"value", cover.graph().value(border.value).name},
               {"direction", name(border.direction)},
               {"other", border.other.valid() ? Json(cover.segments[border.other.index].name) : Json(nullptr)},
               {"type", toText(border.type)},
               {"bytes", jsonOrNull(border.bytes)},
               {"conversion", std::move(conversion)}};
  if (!border.range) return json;
  json["bytes_least"] = jsonOrNull(border.range->least.bytes);
  json["bytes_most"] = jsonOrNull(border.range->most.bytes);
  return json;
}

CoverWriter::CoverWriter(const Cover& cover)
    : m_cover(cover), m_graph(cover.graph()), m_borders(segmentBorders(cover)), m_segmentFacts(segmentFacts(cover)) {}

Json CoverWriter::nodeName(NodeId node) const {
  return node.valid() ? Json(m_graph.node(node).name) : Json(nullptr);
}

Json CoverWriter::valueName(ValueId value) const {
  return value.valid() ? Json(m_graph.value(value).name) : Json(nullptr);
}

Json CoverWriter::head() const {
  Json json;
  json["format"] = kPlanFormat;
  json["version"] = kPlanVersion;
  json["source"] = name(m_cover.source);
  json["model"] = m_cover.model->path;
  json["model_hash"] = unquantized(m_cover.model)->contentHash.hex();
  json["hash"] = requestedPlan(m_cover).hash.hex();
  json["target"] = m_cover.target.canonical();
  json["precision"] = precisionJson(m_cover.options.precisions);
  json["options"] = toJson(m_cover.options);
  json["input_specs"] = jsonList(m_cover.inputSpecs, inputSpecJson);
  json["conditions"] = jsonList(m_cover.model->conditions, [](const ExtentCondition& condition) {
    return Json{{"condition", condition.text()}, {"node", condition.node}, {"demanded", condition.demanded}};
  });
  return json;
}

void CoverWriter::addKernels(Json& json) const {
  json["segments"] = jsonList(m_cover.segments, [&](const Segment& segment) { return segmentJson(segment); });
  json["fused_nodes"] = jsonList(m_cover.fusedNodes, [&](const FusedNode& node) { return fusedNode(node); });
  json["precision_map"] = jsonList(m_cover.precisionMap, [&](const PrecisionGrant& grant) { return grantJson(grant); });
}

void CoverWriter::addCasts(Json& json) const {
  json["casts"] = jsonList(m_cover.casts, [&](const PlannedCast& cast) { return castJson(cast); });
  json["decisions"] = jsonList(m_cover.decisions, [](const Decision& decision) {
    Json entry = toJson(decision);
    entry["message"] = message(decision);
    return entry;
  });
}

void CoverWriter::addTotals(Json& json) const {
  json["totals"] = totalsJson(totalsWithoutBodies(m_cover));
  if (m_cover.bodies.empty()) return;
  const BodyTotals bodies = totalsOfBodies(m_cover);
  json["totals"]["in_bodies"] = totalsJson(bodies.inside);
  json["totals"]["in_bodies"]["bodies"] = bodies.bodies;
}

Json CoverWriter::segmentJson(const Segment& segment) const {
  Json json{{"id", segment.name},
            {"kind", std::string(name(segment.kind))},
            {"backend", segment.backend},
            {"nodes", jsonList(segment.nodes, [&](NodeId id) { return nodeName(id); })},
            {"borders", jsonList(m_borders[segment.id.index],
                                 [&](const SegmentBorder& border) { return toJson(m_cover, border); })}};
  json.update(toJson(m_segmentFacts[segment.id.index]));
  return json;
}

Json CoverWriter::fusedNode(const FusedNode& node) const {
  Json json;
  json["id"] = node.id.index;
  json["name"] = node.name;
  json["kind"] = node.kind;
  json["segment"] = node.segment.valid() ? Json(m_cover.segments[node.segment.index].name) : Json(nullptr);
  json["root"] = nodeName(node.root);
  json["nodes"] = jsonList(node.nodes, [&](NodeId id) { return nodeName(id); });
  json["origins"] = jsonList(node.origins, [&](OriginId id) { return Json(m_cover.model->origins[id.index].name); });
  json["identity"] = node.identity.hex();
  json["predicted"] = isPrediction(m_cover, node);
  json["compute"] = toText(node.compute);
  json["accumulate"] = toText(node.accumulate);
  json["calculates"] = calculatesJson(node);
  json["inputs"] = jsonList(node.inputs, [&](ValueId value) { return valueName(value); });
  json["reads"] = Json::array();
  for (std::size_t i = 0; i < node.inputs.size(); ++i)
    json["reads"].push_back({{"value", valueName(node.inputs[i])}, {"type", toText(node.reads[i])}});
  json["bindings"] = jsonList(node.bindings, [&](const Binding& binding) {
    return Json{{"role", binding.role}, {"node", nodeName(binding.node)}, {"value", valueName(binding.value)}};
  });
  json["outputs"] = jsonList(node.outputs, [&](const FusedOutput& output) {
    return Json{{"value", valueName(output.value)}, {"type", toText(output.type)}};
  });
  json["inner_edges"] = jsonList(node.innerEdges, [&](const InnerEdge& edge) {
    return Json{{"value", valueName(edge.value)}, {"real", edge.real}, {"type", toText(edge.type)}};
  });
  json["flops"] = jsonOrNull(node.flops);
  json["bytes"] = jsonOrNull(node.bytes);
  addPrediction(json, node);
  addRange(json, node.range, true);
  addBodies(json, node);
  return json;
}

/// For an If, Loop or Scan, adds the time and the covers of its bodies.
void CoverWriter::addBodies(Json& json, const FusedNode& node) const {
  const auto isOf = [&](const CoverBody& body) { return body.holder == node.root; };
  if (std::ranges::none_of(m_cover.bodies, isOf)) return;
  json["body_time"] = node.bodyTime ? toJson(*node.bodyTime) : Json(nullptr);
  json["bodies"] = Json::array();
  for (const CoverBody& body : m_cover.bodies)
    if (isOf(body)) json["bodies"].push_back({{"attribute", body.attribute}, {"plan", coverJson(*body.cover)}});
}

/// Returns the nodes that calculate in another type than their kernel as a whole.
Json CoverWriter::calculatesJson(const FusedNode& fused) const {
  Json nodes = Json::array();
  if (m_cover.inFallback(fused) || m_cover.source == CoverSource::ReadBack) return nodes;
  for (const NodeId node : fused.nodes) {
    const DataType type = m_cover.calculates[node.index];
    if (type != DataType::Undefined && type != fused.compute)
      nodes.push_back({{"node", nodeName(node)}, {"type", toText(type)}});
  }
  return nodes;
}

Json CoverWriter::grantJson(const PrecisionGrant& grant) const {
  return {{"node", nodeName(grant.node)},
          {"asked", grant.asked == DataType::Undefined ? Json(nullptr) : Json(toText(grant.asked))},
          {"granted", toText(grant.granted)},
          {"by", grant.by.text()},
          {"code", codeOf(grant.reason)}};
}

Json CoverWriter::castJson(const PlannedCast& cast) const {
  const auto fusedName = [&](FusedNodeId id) { return Json(m_cover.fusedNodes[id.index].name); };
  Json json = {{"value", valueName(cast.value)},
               {"from", toText(cast.from)},
               {"to", toText(cast.to)},
               {"bytes", jsonOrNull(cast.bytes)},
               {"reason", cast.reason},
               {"producer", cast.producer.valid() ? fusedName(cast.producer) : Json(nullptr)},
               {"consumers", jsonList(cast.consumers, fusedName)}};
  addPrediction(json, cast);
  addRange(json, cast.range, false);
  return json;
}

}  // namespace fusescope
