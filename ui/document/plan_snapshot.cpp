#include "ui/document/plan_snapshot.h"

#include <algorithm>
#include <set>

#include "analysis/cost.h"
#include "base/hash.h"
#include "base/sort_distinct.h"
#include "diff/diff_plans.h"
#include "ops/op_schema.h"
#include "planning/fused_node_facts.h"
#include "planning/structure.h"
#include "ui/document/names_apart.h"
#include "ui/jobs/discard.h"

namespace fusescope {

namespace {

/// Returns nothing if an extent or a stored type is unknown.
std::optional<std::int64_t> nodeBytes(const Cover& cover, const ChosenExtents& extents, const Node& node) {
  std::int64_t bytes = 0;
  const auto add = [&](ValueId moved, ValueId stored) {
    const DataType type = cover.storedType(stored);
    const auto more =
        type == DataType::Undefined && asReadBack(cover) != nullptr ? std::nullopt : bytesOfValue(extents, moved, type);
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

/// Returns the entries of `index` with this hash for which `same` returns true, in ascending order.
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

/// Adds the fused node, the grant and the segment of each node.
void addNodes(PlanSnapshot& snapshot) {
  const Cover& cover = *snapshot.cover;
  snapshot.nodes.resize(cover.graph().nodeIdLimit());
  for (std::uint32_t i = 0; i < cover.fusedNodes.size(); ++i) {
    const FusedNode& fused = cover.fusedNodes[i];
    for (const NodeId node : fused.nodes)
      if (std::uint32_t& first = snapshot.nodes[node.index].fused; first == UINT32_MAX) first = i;
    const NodeId main = PlanSnapshot::mainNodeOf(fused);
    if (main.valid() && snapshot.nodes[main.index].fused == i) snapshot.nodes[main.index].root = true;
  }
  for (std::uint32_t i = 0; i < cover.precisionMap.size(); ++i)
    snapshot.nodes[cover.precisionMap[i].node.index].grant = i;
  for (std::uint32_t i = 0; i < cover.segments.size(); ++i)
    for (const NodeId node : cover.segments[i].nodes) snapshot.nodes[node.index].segment = i;
}

/// Adds the amount of work and the moved bytes of each node.
void addWork(PlanSnapshot& snapshot) {
  const Cover& cover = *snapshot.cover;
  const ChosenExtents usual(*cover.model);
  const Structure* structure = snapshot.requestedPlan().structure.get();
  const bool ranges = structure != nullptr && structure->least != nullptr;
  if (ranges) snapshot.ranges.resize(cover.graph().nodeIdLimit());
  for (const NodeId id : cover.graph().order()) {
    const Node& node = cover.graph().node(id);
    PlanSnapshot::NodeFacts& facts = snapshot.nodes[id.index];
    facts.flops = flopsOfNode(usual, node);
    facts.bytes = nodeBytes(cover, usual, node);
    if (!ranges) continue;
    const auto at = [&](const ChosenExtents& extents) {
      return CostAt{.flops = flopsOfNode(extents, node), .bytes = nodeBytes(cover, extents, node), .ms = {}};
    };
    snapshot.ranges[id.index] = CostRange{at(*structure->least), at(*structure->most)};
  }
}

/// Adds everything that is looked up by a hash.
void addNames(PlanSnapshot& snapshot) {
  const Cover& cover = *snapshot.cover;
  for (std::uint32_t i = 0; i < cover.fusedNodes.size(); ++i) {
    snapshot.fusedByName.emplace_back(hashOf(cover.fusedNodes[i].name), i);
    snapshot.fusedByHandle.emplace_back(hashOf(handleOf(cover.fusedNodes[i])), i);
  }
  for (std::uint32_t i = 0; i < cover.decisions.size(); ++i)
    for (const Subject& subject : cover.decisions[i].subjects) snapshot.decisionsOf.emplace_back(hashOf(subject), i);
  for (PlanSnapshot::ByHash* index : {&snapshot.decisionsOf, &snapshot.fusedByName, &snapshot.fusedByHandle}) {
    sortDistinct(*index);  // a decision may name a thing twice
    index->shrink_to_fit();
  }
}

}  // namespace

bool PlanDelta::nothing() const {
  return fusionsLost.empty() && fusionsGained.empty() && castsAdded.empty() && castsRemoved.empty() &&
         retyped.empty() && newAnswers.empty() && fusedNodes == 0 && segments == 0;
}

PlanDelta planDelta(const Plan& before, const Plan& after) {
  return deltaOf(changesBetween({.cover = &before, .label = {}}, {.cover = &after, .label = {}}));
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

namespace {

/// Makes a snapshot and the snapshots of its bodies. `before` is an earlier snapshot, and `modules` are the modules, if
/// they are known.
std::shared_ptr<PlanSnapshot> snapshotOf(std::shared_ptr<const Plan> plan, std::shared_ptr<const ReadBackPlan> made,
                                         const PlanSnapshot* before, std::shared_ptr<const ModuleTree> modules,
                                         bool ofBody) {
  // The last owner, often the GUI thread, does not destroy the snapshot itself, because that takes long.
  std::shared_ptr<PlanSnapshot> snapshot(
      new PlanSnapshot, [](PlanSnapshot* gone) { discard(std::shared_ptr<const PlanSnapshot>(gone)); });
  snapshot->plan = std::move(plan);
  snapshot->cover = made ? std::static_pointer_cast<const Cover>(made) : snapshot->plan;
  addNodes(*snapshot);
  addWork(*snapshot);
  addNames(*snapshot);
  snapshot->borders = segmentBorders(*snapshot->cover);
  snapshot->segmentFacts = segmentFacts(*snapshot->cover);
  const bool sameModel = before != nullptr && before->plan->model == snapshot->plan->model;
  snapshot->twins = sameModel ? before->twins : nodeTwins(snapshot->graph());
  if (sameModel) modules = before->modules;
  if (modules == nullptr) modules = std::make_shared<const ModuleTree>(moduleTreeOf(*snapshot->plan->model));
  for (const CoverBody& body : snapshot->cover->bodies)
    snapshot->bodies.push_back({body.holder, body.attribute,
                                snapshotOf(std::static_pointer_cast<const Plan>(body.cover), nullptr, nullptr,
                                           modules->body(body.holder, body.attribute), true)});
  snapshot->blocks = std::make_shared<const CoverBlocks>(*snapshot->cover, modules, ofBody);
  snapshot->modules = std::move(modules);
  return snapshot;
}

}  // namespace

std::shared_ptr<const PlanSnapshot> makeSnapshot(std::shared_ptr<const Plan> plan, const PlanSnapshot* before,
                                                 std::shared_ptr<const ReadBackPlan> made) {
  const std::shared_ptr<PlanSnapshot> snapshot = snapshotOf(std::move(plan), std::move(made), before, nullptr, false);
  if (before == nullptr) return snapshot;
  if (before->plan == snapshot->plan) {
    snapshot->delta = before->delta;
  } else if (unquantized(before->plan->model) == unquantized(snapshot->plan->model)) {
    snapshot->delta = planDelta(*before->plan, *snapshot->plan);
  } else {
    snapshot->delta.ofAnotherNetwork = true;
  }
  return snapshot;
}

const std::vector<std::uint32_t>& PlanSnapshot::newDecisions() const {
  static const std::vector<std::uint32_t> kNone;
  return &requestedPlan() == plan.get() ? delta.newAnswers : kNone;
}

const std::string& PlanSnapshot::twinName(NodeId node) const {
  static const std::string kNone;
  const NodeId twin = (*twins)[node.index];
  return twin.valid() ? graph().node(twin).name : kNone;
}

const FusedNode* PlanSnapshot::fusedOf(NodeId node) const {
  const std::uint32_t index = node.index < nodes.size() ? nodes[node.index].fused : UINT32_MAX;
  return index == UINT32_MAX ? nullptr : &cover->fusedNodes[index];
}

const PrecisionGrant* PlanSnapshot::grantOf(NodeId node) const {
  const std::uint32_t index = node.index < nodes.size() ? nodes[node.index].grant : UINT32_MAX;
  return index == UINT32_MAX ? nullptr : &cover->precisionMap[index];
}

std::vector<const FusedNode*> PlanSnapshot::kernelsOf(NodeId node) const {
  std::vector<const FusedNode*> all;
  for (const FusedNodeId fused : fusescope::kernelsOf(*cover, node)) all.push_back(&cover->fusedNodes[fused.index]);
  return all;
}

const FusedNode* PlanSnapshot::fusedWithExactly(const std::vector<NodeId>& some) const {
  if (some.empty()) return nullptr;
  for (const FusedNode* fused : kernelsOf(some.front()))
    if (fused->nodes == some) return fused;
  return nullptr;
}

const Segment* PlanSnapshot::segmentOf(NodeId node) const {
  const std::uint32_t index = node.index < nodes.size() ? nodes[node.index].segment : UINT32_MAX;
  return index == UINT32_MAX ? nullptr : &cover->segments[index];
}

const Segment* PlanSnapshot::segmentOf(const FusedNode& fused) const {
  return fused.segment.valid() ? &cover->segments[fused.segment.index] : nullptr;
}

NodeId PlanSnapshot::mainNodeOf(const FusedNode& fused) {
  if (fused.root.valid() || fused.nodes.empty()) return fused.root;
  return fused.nodes.front();
}

bool PlanSnapshot::isDrawn(const FusedNode& fused) const {
  return std::ranges::any_of(fused.nodes, [&](NodeId node) { return fusedOf(node) == &fused; });
}

bool PlanSnapshot::isIdentifiedByNodes(const FusedNode& fused) const {
  return fusedWithExactly(fused.nodes) == &fused;
}

std::vector<std::uint32_t> PlanSnapshot::decisionsAbout(const Subject& subject) const {
  return foundIn(decisionsOf, hashOf(subject), [&](std::uint32_t decision) {
    return std::ranges::any_of(cover->decisions[decision].subjects, [&](const Subject& other) {
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
                             [&](std::uint32_t fused) { return handleOf(cover->fusedNodes[fused]) == handle; });
  return found.empty() ? nullptr : &cover->fusedNodes[found.front()];
}

const Segment* PlanSnapshot::segmentOf(const std::vector<NodeId>& some) const {
  const Segment* segment = some.empty() ? nullptr : segmentOf(some.front());
  return segment != nullptr && segment->nodes == some ? segment : nullptr;
}

namespace {

/// Returns the nodes of a module that are in `segment`.
std::vector<NodeId> nodesIn(const PlanSnapshot& snapshot, const Module& module, const Segment* segment) {
  std::vector<NodeId> nodes = module.nodes;
  std::erase_if(nodes, [&](NodeId node) { return snapshot.segmentOf(node) != segment; });
  return nodes;
}

/// Returns the nodes of the module that a handle names; nothing for another text.
std::vector<NodeId> nodesOfModule(const PlanSnapshot& snapshot, std::string_view handle) {
  if (!handle.starts_with(kModulePrefix)) return {};
  handle.remove_prefix(std::string_view(kModulePrefix).size());
  const std::size_t end = handle.rfind(kInSegment);
  const std::int32_t module = snapshot.modules->find(handle.substr(0, end));
  if (module < 0) return {};
  const Module& found = snapshot.modules->modules[static_cast<std::size_t>(module)];
  if (end == std::string_view::npos) return found.nodes;
  const std::string_view name = handle.substr(end + std::string_view(kInSegment).size());
  const auto& segments = snapshot.cover->segments;
  const auto segment = std::ranges::find(segments, name, &Segment::name);
  return segment == segments.end() ? std::vector<NodeId>() : nodesIn(snapshot, found, &*segment);
}

}  // namespace

std::int32_t PlanSnapshot::moduleOf(const std::vector<NodeId>& some) const {
  if (some.size() < 2 || some.front().index >= modules->moduleOf.size()) return -1;
  std::int32_t module = modules->moduleOf[some.front().index];
  for (; module >= 0; module = modules->modules[static_cast<std::size_t>(module)].parent) {
    const Module& of = modules->modules[static_cast<std::size_t>(module)];
    if (of.nodes.size() < some.size()) continue;
    if (of.nodes == some || nodesIn(*this, of, segmentOf(some.front())) == some) return module;
  }
  return -1;
}

std::string PlanSnapshot::moduleHandle(const std::vector<NodeId>& some) const {
  const std::int32_t module = moduleOf(some);
  if (module < 0) return {};
  const Module& of = modules->modules[static_cast<std::size_t>(module)];
  const std::string handle = kModulePrefix + of.path;
  return of.nodes == some ? handle : handle + kInSegment + segmentOf(some.front())->name;
}

std::vector<NodeId> PlanSnapshot::nodesNamed(const std::string& name) const {
  if (std::vector<NodeId> nodes = nodesOfModule(*this, name); !nodes.empty()) return nodes;
  if (const FusedNode* fused = fusedWith(name)) return fused->nodes;
  if (const auto node = graph().findNode(name)) return {*node};
  const auto kernels =
      foundIn(fusedByName, hashOf(name), [&](std::uint32_t fused) { return cover->fusedNodes[fused].name == name; });
  if (!kernels.empty()) return cover->fusedNodes[kernels.front()].nodes;
  for (const Segment& segment : cover->segments) {
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
