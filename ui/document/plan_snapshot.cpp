#include "ui/document/plan_snapshot.h"

#include <QRunnable>
#include <QThreadPool>
#include <algorithm>
#include <set>

#include "analysis/cost.h"
#include "base/hash.h"
#include "base/sort_distinct.h"
#include "ops/op_schema.h"
#include "planning/fused_node_facts.h"
#include "planning/structure.h"
#include "ui/document/names_apart.h"

namespace fusescope {

namespace {

std::optional<std::int64_t> nodeBytes(const Plan& plan, const UsualExtents& extents, const Node& node) {
  std::int64_t bytes = 0;
  const auto add = [&](ValueId moved, ValueId stored) {
    const auto more = bytesOfValue(extents, moved, plan.storedType(stored));
    bytes += more.value_or(0);
    return more.has_value();
  };
  for (const ValueId value : node.inputs)
    if (value.valid() && !add(readsPart(node, value) ? node.outputs.front() : value, value)) return std::nullopt;
  for (const ValueId value : node.outputs)
    if (value.valid() && !add(value, value)) return std::nullopt;
  return bytes;
}

std::uint64_t hashOf(std::string_view text) {
  return hashText(text).low;
}

std::uint64_t hashOf(const Subject& subject) {
  return hashOf(subject.text()) + static_cast<std::uint64_t>(subject.kind);
}

/// What `index` has for `hash`, ascending, as far as `same` says that it is that.
template <class Same>
std::vector<std::uint32_t> foundIn(const PlanSnapshot::ByHash& index, std::uint64_t hash, Same same) {
  std::vector<std::uint32_t> found;
  for (auto it = std::ranges::lower_bound(index, std::pair(hash, std::uint32_t(0))); it != index.end(); ++it) {
    if (it->first != hash) break;
    if (same(it->second)) found.push_back(it->second);
  }
  return found;
}

std::shared_ptr<const std::vector<NodeId>> nodeTwins(const Graph& graph) {
  std::vector<std::string_view> names;
  for (const NodeId node : graph.order()) names.push_back(graph.node(node).name);
  const std::vector<std::string_view> found = twinsOf(names);
  auto twins = std::make_shared<std::vector<NodeId>>(graph.nodeIdLimit());
  for (std::size_t i = 0; i < names.size(); ++i)
    if (const auto twin = graph.findNode(found[i])) (*twins)[graph.order()[i].index] = *twin;
  return twins;
}

}  // namespace

bool PlanDelta::nothing() const {
  return fusionsLost.empty() && fusionsGained.empty() && castsAdded.empty() && castsRemoved.empty() &&
         retyped.empty() && newAnswers.empty() && fusedNodes == 0 && segments == 0;
}

PlanDelta planDelta(const Plan& before, const Plan& after) {
  return deltaOf(changesBetween({.plan = &before, .label = {}}, {.plan = &after, .label = {}}));
}

PlanDelta deltaOf(const PlanDiff& diff) {
  PlanDelta delta;
  delta.comparable = true;
  const auto addFusions = [](const std::vector<CoveringNode>& fused, std::vector<std::string>& names) {
    for (const CoveringNode& node : fused)
      if (node.nodes > 1) names.push_back(node.place.text());
  };
  for (const FusionChange& change : diff.fusions) {
    addFusions(change.a, delta.fusionsLost);
    addFusions(change.b, delta.fusionsGained);
  }
  std::ranges::sort(delta.fusionsLost);
  std::ranges::sort(delta.fusionsGained);
  for (const CastChange& change : diff.casts)
    (change.added ? delta.castsAdded : delta.castsRemoved)
        .push_back(change.value + ": " + std::string(name(change.from)) + " to " + std::string(name(change.to)));
  for (const TypeChange& change : diff.types)
    if (change.thing == TypedThing::Node) delta.retyped.push_back(change.name + ": " + change.a + " to " + change.b);
  delta.castBytes = diff.b.castBytes - diff.a.castBytes;
  delta.bytes = diff.b.bytes - diff.a.bytes;
  delta.fusedNodes = diff.b.fusedNodes - diff.a.fusedNodes;
  delta.segments = diff.b.segments - diff.a.segments;
  for (const DecisionChange& change : diff.decisions)
    if (change.b != nullptr && change.body.isNetwork()) delta.newAnswers.push_back(change.indexInB);
  return delta;
}

std::shared_ptr<const PlanSnapshot> makeSnapshot(std::shared_ptr<const Plan> plan, const PlanSnapshot* before) {
  // Whoever lets go of it last, often the GUI thread, does not take it apart: that takes long.
  const auto discard = [](PlanSnapshot* gone) {
    QThreadPool::globalInstance()->start(QRunnable::create([gone] { delete gone; }));
  };
  const std::shared_ptr<PlanSnapshot> snapshot(new PlanSnapshot, discard);
  const Graph& graph = plan->graph();
  snapshot->nodes.resize(graph.nodeIdLimit());
  for (std::uint32_t i = 0; i < plan->fusedNodes.size(); ++i) {
    const FusedNode& fused = plan->fusedNodes[i];
    snapshot->fusedByName.emplace_back(hashOf(fused.name), i);
    snapshot->fusedByHandle.emplace_back(hashOf(handleOf(fused)), i);
    for (const NodeId node : fused.nodes) snapshot->nodes[node.index].fused = i;
    if (fused.root.valid()) snapshot->nodes[fused.root.index].root = true;
  }
  for (std::uint32_t i = 0; i < plan->precisionMap.size(); ++i) {
    snapshot->nodes[plan->precisionMap[i].node.index].grant = i;
  }
  const UsualExtents usual(*plan->model);
  const bool ranges = plan->structure != nullptr && plan->structure->least != nullptr;
  if (ranges) snapshot->ranges.resize(graph.nodeIdLimit());
  for (const NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    PlanSnapshot::NodeFacts& facts = snapshot->nodes[id.index];
    facts.flops = flopsOfNode(usual, node);
    facts.bytes = nodeBytes(*plan, usual, node);
    if (!ranges) continue;
    const auto at = [&](const UsualExtents& extents) {
      return CostAt{.flops = flopsOfNode(extents, node), .bytes = nodeBytes(*plan, extents, node), .ms = {}};
    };
    snapshot->ranges[id.index] = CostRange{at(*plan->structure->least), at(*plan->structure->most)};
  }
  for (std::uint32_t i = 0; i < plan->decisions.size(); ++i) {
    for (const Subject& subject : plan->decisions[i].subjects) snapshot->decisionsOf.emplace_back(hashOf(subject), i);
  }
  for (PlanSnapshot::ByHash* index : {&snapshot->decisionsOf, &snapshot->fusedByName, &snapshot->fusedByHandle}) {
    sortDistinct(*index);  // a decision may name a thing twice
    index->shrink_to_fit();
  }
  snapshot->borders = segmentBorders(*plan);
  const bool sameModel = before != nullptr && before->plan->model == plan->model;
  snapshot->twins = sameModel ? before->twins : nodeTwins(graph);
  for (const PlannedBody& body : plan->bodies)
    snapshot->bodies.push_back({body.holder, body.attribute, makeSnapshot(body.plan, nullptr)});
  if (sameModel) snapshot->delta = planDelta(*before->plan, *plan);
  snapshot->plan = std::move(plan);
  return snapshot;
}

const std::string& PlanSnapshot::twinName(NodeId node) const {
  static const std::string kNone;
  const NodeId twin = (*twins)[node.index];
  return twin.valid() ? graph().node(twin).name : kNone;
}

const FusedNode* PlanSnapshot::fusedOf(NodeId node) const {
  const std::uint32_t index = node.index < nodes.size() ? nodes[node.index].fused : UINT32_MAX;
  return index == UINT32_MAX ? nullptr : &plan->fusedNodes[index];
}

const PrecisionGrant* PlanSnapshot::grantOf(NodeId node) const {
  const std::uint32_t index = node.index < nodes.size() ? nodes[node.index].grant : UINT32_MAX;
  return index == UINT32_MAX ? nullptr : &plan->precisionMap[index];
}

std::vector<std::uint32_t> PlanSnapshot::decisionsAbout(const Subject& subject) const {
  return foundIn(decisionsOf, hashOf(subject), [&](std::uint32_t decision) {
    return std::ranges::any_of(plan->decisions[decision].subjects, [&](const Subject& other) {
      return other.kind == subject.kind && other.place == subject.place;
    });
  });
}

std::vector<std::uint32_t> PlanSnapshot::decisionsAbout(const std::string& handle) const {
  std::vector<Subject> subjects;
  if (const FusedNode* fused = fusedWith(handle)) {
    subjects.push_back(Subject::fusedNode(fused->name, fused->identity.hex()));
    if (fused->nodes.size() == 1) subjects.push_back(Subject::node(graph().node(fused->nodes.front()).name));
  } else {
    subjects = {Subject::node(handle), Subject::fusedNode(handle, {}), Subject::segment(handle),
                Subject::value(handle)};
  }
  std::set<std::uint32_t> all;
  for (const Subject& subject : subjects) {
    const auto& about = decisionsAbout(subject);
    all.insert(about.begin(), about.end());
  }
  return {all.begin(), all.end()};
}

const FusedNode* PlanSnapshot::fusedWith(const std::string& handle) const {
  const auto found = foundIn(fusedByHandle, hashOf(handle),
                             [&](std::uint32_t fused) { return handleOf(plan->fusedNodes[fused]) == handle; });
  return found.empty() ? nullptr : &plan->fusedNodes[found.front()];
}

const Segment* PlanSnapshot::segmentOf(const std::vector<NodeId>& some) const {
  const FusedNode* fused = some.empty() ? nullptr : fusedOf(some.front());
  if (fused == nullptr) return nullptr;
  const Segment& segment = plan->segments[fused->segment.index];
  return segment.nodes == some ? &segment : nullptr;
}

std::vector<NodeId> PlanSnapshot::nodesNamed(const std::string& name) const {
  if (const FusedNode* fused = fusedWith(name)) return fused->nodes;
  if (const auto node = graph().findNode(name)) return {*node};
  const auto kernels =
      foundIn(fusedByName, hashOf(name), [&](std::uint32_t fused) { return plan->fusedNodes[fused].name == name; });
  if (!kernels.empty()) return plan->fusedNodes[kernels.front()].nodes;
  for (const Segment& segment : plan->segments) {
    if (segment.name == name) return segment.nodes;
  }
  const auto value = graph().findValue(name);
  if (!value) return {};
  const NodeId producer = graph().value(*value).producer;
  if (producer.valid()) return {producer};
  return graph().value(*value).consumers;
}

const PlanSnapshot* PlanSnapshot::body(NodeId holder, const std::string& attribute) const {
  for (const Body& body : bodies)
    if (body.holder == holder && body.attribute == attribute) return body.snapshot.get();
  return nullptr;
}

std::vector<PlanSnapshot::Level> PlanSnapshot::levels() const {
  std::vector<Level> all{{.snapshot = this}};
  for (const Body& body : bodies) {
    for (Level& inner : body.snapshot->levels()) {
      inner.path = inner.path.within(BodyPath().into(graph().node(body.holder), body.attribute));
      inner.holder = body.holder;
      all.push_back(std::move(inner));
    }
  }
  return all;
}

std::optional<PlanSnapshot::Inside> PlanSnapshot::inside(std::string_view text) const {
  if (bodies.empty()) return std::nullopt;
  for (const NamedBody& named : bodiesNamed(graph(), text)) {
    const PlanSnapshot* of = body(named.holder, named.attribute);
    if (of == nullptr) continue;
    const BodyPath path = BodyPath().into(graph().node(named.holder), named.attribute);
    const std::string rest(named.rest);
    if (auto nodes = of->nodesNamed(rest); !nodes.empty())
      return Inside{named.holder, of, {path, rest}, std::move(nodes)};
    if (auto deeper = of->inside(rest)) {
      deeper->holder = named.holder;
      deeper->place.bodies = deeper->place.bodies.within(path);
      return deeper;
    }
  }
  return std::nullopt;
}

std::int64_t PlanSnapshot::pinCount() const {
  const Directives& all = plan->options.directives;
  return std::count_if(all.begin(), all.end(), asksForAType);
}

}  // namespace fusescope
