#include "session/file_network.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/json.h"
#include "base/sort_distinct.h"
#include "frontends/importers.h"
#include "interchange/source_network.h"
#include "ir/graph.h"
#include "planning/identities.h"
#include "planning/kinds.h"

namespace fusescope {
namespace {

/// Returns `graph` with the types of `known`, the plan's network, because a file declares few types of its values.
Result<std::shared_ptr<const Graph>> typed(const Graph& graph, const Graph& known) {
  GraphEditor editor(graph);
  for (const ValueId value : graph.allValues()) {
    const auto same = known.findValue(graph.value(value).name);
    if (same) editor.setType(value, known.value(*same).type);
  }
  return editor.publish();
}

/// Determines what became of nodes that no node of the network represents any more, from where their results are now.
class Gone {
 public:
  Gone(const FileNetwork& file, const Graph& now, const std::vector<std::vector<NodeId>>& representing)
      : m_graph(*file.model->graph), m_now(now), m_representing(representing) {
    m_isFolded.resize(m_graph.nodeIdLimit(), 0);
    findNeeded();
    for (const NodeId node : m_graph.order()) m_isFolded[node.index] = isFolded(m_graph.node(node));
  }
  Fate of(NodeId node) const { return m_isFolded[node.index] != 0 ? Fate::Folded : Fate::Removed; }

 private:
  bool isGone(const Node& node) const {
    return std::ranges::all_of(node.origins, [&](OriginId origin) { return m_representing[origin.index].empty(); });
  }
  /// Finds the nodes on which an output of the network depends.
  void findNeeded() {
    m_isNeeded.resize(m_graph.nodeIdLimit(), 0);
    const auto need = [&](ValueId value) {
      if (!value.valid() || !m_graph.value(value).producer.valid()) return;
      m_isNeeded[m_graph.value(value).producer.index] = 1;
    };
    std::ranges::for_each(m_graph.outputs(), need);
    for (auto node = m_graph.order().rbegin(); node != m_graph.order().rend(); ++node)
      if (m_isNeeded[node->index] != 0) std::ranges::for_each(operands(m_graph.node(*node)), need);
  }
  bool isConstantNow(ValueId value) const {
    const auto now = value.valid() ? m_now.findValue(m_graph.value(value).name) : std::nullopt;
    return now && m_now.isConstant(*now);
  }
  /// Returns whether the node was folded: it depends only on constants or extents, and its result is now a constant, a
  /// part of one, or an input of a node that is gone itself.
  bool isFolded(const Node& node) const {
    if (!isGone(node) || m_isNeeded[node.id.index] == 0) return false;
    if (std::ranges::any_of(node.outputs, [&](ValueId value) { return isConstantNow(value); })) return true;
    if (node.is("Shape") || node.is("Size")) return true;
    return std::ranges::all_of(node.inputs, [&](ValueId value) {
      if (!value.valid() || m_graph.isConstant(value)) return true;
      const NodeId producer = m_graph.value(value).producer;
      return producer.valid() && m_isFolded[producer.index] != 0;
    });
  }

  const Graph& m_graph;
  const Graph& m_now;
  const std::vector<std::vector<NodeId>>& m_representing;  ///< by OriginId: the nodes that represent it
  std::vector<char> m_isNeeded, m_isFolded;                ///< by NodeId
};

/// Makes both covers of the file's nodes.
class Covering {
 public:
  Covering(const FileNetwork& file, const Cover& cover)
      : m_file(file), m_cover(cover), m_representing(file.nodeOf.size()), m_alone(std::make_shared<Plan>()) {
    for (const NodeId node : cover.graph().order())
      for (const OriginId origin : cover.graph().node(node).origins)
        if (origin.index < m_representing.size()) m_representing[origin.index].push_back(node);
  }

  Result<InFileNodes> run() {
    makeAlone();
    InFileNodes made{.alone = m_alone, .cover = {}, .nodes = fates()};
    made.cover = TRY(covered(made.nodes));
    return made;
  }

 private:
  const Graph& graph() const { return *m_file.model->graph; }

  /// Makes the cover that nobody planned; it has only what is needed to draw and compare it.
  void makeAlone() {
    m_alone->model = m_file.model;
    m_alone->target = m_cover.target;
    m_alone->options = m_cover.options;
    m_alone->inputSpecs = m_cover.inputSpecs;
    m_alone->segments = {{.id = SegmentId(0),
                          .name = "network",
                          .backend = m_cover.segments.empty() ? std::string() : m_cover.segments.front().backend,
                          .nodes = graph().order()}};
    const Identities identities(*m_file.model);
    for (const NodeId id : graph().order()) {
      const Node& node = graph().node(id);
      FusedNode fused{.id = FusedNodeId(m_alone->fusedNodes.size()),
                      .name = node.name,
                      .kind = kindOf(node),
                      .segment = SegmentId(0),
                      .root = id,
                      .nodes = {id},
                      .origins = node.origins};
      fused.identity = identities.of(fused.nodes, fused.origins);
      for (const ValueId output : node.outputs)
        if (output.valid()) fused.outputs.push_back({output, graph().value(output).type.dtype});
      if (!fused.outputs.empty()) fused.compute = fused.outputs.front().type;
      m_alone->fusedNodes.push_back(std::move(fused));
    }
    m_alone->calculates.assign(graph().nodeIdLimit(), DataType::Undefined);
    m_alone->index();
  }

  /// Returns the kind of the kernel that the node determines; otherwise the kind of a single operator.
  std::string kindOf(const Node& node) const {
    for (const OriginId origin : node.origins)
      for (const NodeId id : m_representing[origin.index])
        if (const FusedNode* fused = m_cover.fusedNodeOf(id); fused != nullptr && fused->root == id) return fused->kind;
    return std::string(kinds::kOperator);
  }

  std::vector<FileNodeFate> fates() const {
    const Gone gone(m_file, m_cover.graph(), m_representing);
    const std::map<std::string, std::string> reasons = reasonsOfRemoval();
    std::vector<FileNodeFate> fates;
    for (std::size_t i = 0; i < m_file.nodeOf.size(); ++i) {
      FileNodeFate& fate = fates.emplace_back(FileNodeFate{.origin = OriginId(i)});
      const std::string& name = m_file.model->origins[i].name;
      for (const NodeId node : m_representing[i]) {
        const std::vector<FusedNodeId> kernels = kernelsOf(m_cover, node);
        fate.kernels.insert(fate.kernels.end(), kernels.begin(), kernels.end());
        if (m_representing[i].size() > 1 || m_cover.graph().node(node).name != name)
          fate.representedBy.push_back(m_cover.graph().node(node).name);
      }
      sortDistinct(fate.kernels);
      if (!m_representing[i].empty()) {
        fate.fate = fateOfRepresented(m_representing[i]);
        continue;
      }
      fate.fate = m_file.nodeOf[i].valid() ? gone.of(m_file.nodeOf[i]) : Fate::Folded;
      if (const auto reason = reasons.find(name); reason != reasons.end()) fate.why = reason->second;
    }
    return fates;
  }

  /// Returns the fate of a node that is represented by `nodes`. A node that any kernel calculates is in a kernel.
  Fate fateOfRepresented(const std::vector<NodeId>& nodes) const {
    std::optional<Fate> known;
    for (const NodeId node : nodes) {
      const FusedNode* fused = m_cover.fusedNodeOf(node);
      const ReadBackPlan* made = asReadBack(m_cover);
      const Fate fate = made != nullptr                            ? made->fateOf(node)
                        : m_cover.inFallback(*fused)               ? Fate::Fallback
                        : fused->kind == std::string(kinds::kView) ? Fate::View
                                                                   : Fate::Kernel;
      if (!known || fate == Fate::Kernel) known = fate;
    }
    return *known;
  }

  /// Returns, by the name of a node of the file, why no node represents it, in words for people.
  std::map<std::string, std::string> reasonsOfRemoval() const {
    std::map<std::string, std::string> reasons;
    for (const Decision& decision : unquantized(m_cover.model)->decisions)
      if (decision.kind == DecisionKind::Normalise)
        for (const Subject& subject : decision.subjects)
          if (subject.kind == SubjectKind::Node) reasons.insert_or_assign(subject.text(), message(decision));
    return reasons;
  }

  Result<std::shared_ptr<const ReadBackPlan>> covered(const std::vector<FileNodeFate>& fates) const {
    ReadBack readBack{.compiler = {.name = m_cover.options.compiler}};
    if (const ReadBackPlan* made = asReadBack(m_cover)) readBack.compiler = made->compiler;
    for (const FusedNode& fused : m_cover.fusedNodes) readBack.kernels.push_back(inFile(fused));
    for (const FileNodeFate& fate : fates)
      if (const NodeId node = m_file.nodeOf[fate.origin.index]; node.valid()) readBack.fates[node] = fate.fate;
    auto made = std::make_shared<ReadBackPlan>(*TRY(readBackPlan(m_alone, readBack)));
    keepKnown(fates, *made);
    return std::shared_ptr<const ReadBackPlan>(std::move(made));
  }

  /// Returns a kernel of the cover in terms of the file's nodes: it contains the nodes that its own nodes represent,
  /// with the same certainty.
  ReadBackKernel inFile(const FusedNode& fused) const {
    ReadBackKernel kernel{.name = fused.name, .kind = fused.kind, .compute = fused.compute};
    kernel.region = std::to_string(fused.id.index);  // keepKnown() finds the kernel again by this text
    const ReadBackPlan* read = asReadBack(m_cover);
    std::map<NodeId, Certainty> held;
    for (std::size_t i = 0; i < fused.nodes.size(); ++i) {
      const Certainty known = read == nullptr ? Certainty::Named : read->kernels[fused.id.index].certainty[i];
      for (const OriginId origin : m_cover.graph().node(fused.nodes[i]).origins) {
        const NodeId node = origin.index < m_file.nodeOf.size() ? m_file.nodeOf[origin.index] : NodeId();
        if (!node.valid()) continue;
        const auto [entry, isNew] = held.try_emplace(node, known);
        if (!isNew) entry->second = std::min(entry->second, known);
      }
    }
    kernel.nodes.assign(held.begin(), held.end());
    for (const FusedOutput& output : fused.outputs) {
      const auto same = graph().findValue(m_cover.graph().value(output.value).name);
      kernel.outputs.push_back({.value = same.value_or(ValueId()), .type = output.type, .format = {}});
    }
    return kernel;
  }
  /// Copies what is known of the cover's kernels.
  void keepKnown(const std::vector<FileNodeFate>& fates, ReadBackPlan& made) const {
    const ReadBackPlan* read = asReadBack(m_cover);
    for (FusedNode& fused : made.fusedNodes) {
      ReadBackPlan::Kernel& kernel = made.kernels[fused.id.index];
      const FusedNode& own = m_cover.fusedNodes[std::stoul(kernel.region)];
      fused.identity = own.identity;
      fused.rule = own.rule;
      fused.flops = own.flops;
      fused.bytes = own.bytes;
      fused.predictedMs = own.predictedMs;
      fused.predictedHow = own.predictedHow;
      for (InnerEdge& edge : fused.innerEdges) takeInnerEdge(own, edge);
      kernel.region = read == nullptr ? std::string() : read->kernels[own.id.index].region;
      kernel.once = read != nullptr && read->kernels[own.id.index].once;
      kernel.ms = read == nullptr ? std::nullopt : read->kernels[own.id.index].ms;
      if (read != nullptr) kernel.optimiser = read->kernels[own.id.index].optimiser;
      // Nothing about our own kernels is uncertain.
      kernel.isOurs = read == nullptr || read->kernels[own.id.index].isOurs;
    }
    for (const FileNodeFate& fate : fates) {
      const NodeId node = m_file.nodeOf[fate.origin.index];
      if (!node.valid()) continue;
      if (fate.fate == Fate::Fallback) made.fates[node.index] = Fate::Fallback;
      for (const NodeId id : m_representing[fate.origin.index])
        if (const DataType type = m_cover.calculates[id.index]; type != DataType::Undefined)
          made.calculates[node.index] = type;
    }
    for (const ValueId value : graph().allValues()) {
      const auto same = m_cover.graph().findValue(graph().value(value).name);
      if (same && m_cover.storedType(*same) != DataType::Undefined)
        made.storedTypes[value.index] = m_cover.storedType(*same);
    }
  }

  /// Copies the inner edge of the cover's kernel that has the name of this value. If there is none, `edge` is not
  /// changed.
  void takeInnerEdge(const FusedNode& own, InnerEdge& edge) const {
    const std::string& name = graph().value(edge.value).name;
    for (const InnerEdge& held : own.innerEdges)
      if (m_cover.graph().value(held.value).name == name) edge = {edge.value, held.real, held.type};
  }

  const FileNetwork& m_file;
  const Cover& m_cover;
  std::vector<std::vector<NodeId>> m_representing;  ///< by OriginId: nodes of the cover's graph
  std::shared_ptr<Plan> m_alone;
};

}  // namespace

Result<FileNetwork> openFileNetwork(const Plan& plan, const StopToken& stop) {
  const std::filesystem::path path = TRY(sourceNetwork(plan, stop));
  auto model = std::make_shared<Model>(TRY(importModel(path, {}, stop, NodeForm::InFile)));
  const Model& prepared = *unquantized(plan.model);
  if (model->origins.size() != prepared.origins.size())
    return Diagnostic{.message = "this is not the network for which the plan was made",
                      .where = {.file = path.string()}};
  model->graph = TRY(typed(*model->graph, *prepared.graph));
  FileNetwork file{.model = model, .nodeOf = std::vector<NodeId>(model->origins.size())};
  for (const NodeId node : model->graph->order())
    for (const OriginId origin : model->graph->node(node).origins) file.nodeOf[origin.index] = node;
  return file;
}

Result<InFileNodes> inFileNodes(const FileNetwork& file, const Cover& cover) {
  return Covering(file, cover).run();
}

std::string fateText(const FileNetwork& file, const FileNodeFate& node) {
  if (!file.nodeOf[node.origin.index].valid()) return "constant";
  std::string text(name(node.fate));
  std::ranges::replace(text, '_', ' ');
  return text;
}

Json fileNodesJson(const FileNetwork& file, const Cover& cover, const InFileNodes& in) {
  Json nodes = Json::array();
  for (const FileNodeFate& node : in.nodes) {
    const Origin& origin = file.model->origins[node.origin.index];
    Json kernels = Json::array();
    for (const FusedNodeId id : node.kernels) {
      const FusedNode& fused = cover.fusedNodes[id.index];
      kernels.push_back({{"name", fused.name}, {"identity", fused.identity.hex()}, {"nodes", fused.nodes.size()}});
    }
    nodes.push_back({{"name", origin.name},
                     {"op", origin.op},
                     {"domain", origin.domain},
                     {"fate", fateText(file, node)},
                     {"stands_as", node.representedBy},
                     {"kernels", std::move(kernels)},
                     {"why", node.why.empty() ? Json(nullptr) : Json(node.why)}});
  }
  return {{"format", "fusescope.file_nodes"}, {"version", 1}, {"model", file.model->path}, {"nodes", std::move(nodes)}};
}

}  // namespace fusescope
