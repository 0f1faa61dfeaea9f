#include <algorithm>
#include <limits>
#include <map>

#include "analysis/users.h"
#include "base/json.h"
#include "planning/steps.h"

namespace fusescope {

namespace {

// Segments are found by levels. The level of a node is the largest number of changes between accelerated and fallback
// on any path to it: even levels are accelerated, odd ones are fallback (a fallback node that needs no accelerated node
// has level -1). The nodes of one level are a segment:
//   - It is convex: levels never decrease along a path, so that everything between two nodes of a level has that level.
//   - It is maximal: every level contains a node with a predecessor in the level before, so that a merge of two levels
//   of
//     the same kind would make a path that leaves through the other kind and returns.
// If splits end segments (SplitReach::Segments), an edge that leaves a split node counts as two changes, so that the
// nodes after it are in another segment of the same kind, and the level between the two may be empty.
// An accelerated node that reads only constants could be in any segment before its readers. It is put into the first
// segment that reads it, so that a kernel there can include it: a DequantizeLinear of weights belongs to its product.
constexpr int kFirstFallbackLevel = -1;

class Partitioner {
 public:
  Partitioner(const Graph& graph, const Target& target, const std::vector<NodeVerdict>& verdicts,
              std::uint32_t firstVerdict, const DirectiveMap& directives, const PlanOptions& options, SplitReach splits)
      : m_graph(graph),
        m_target(target),
        m_verdicts(verdicts),
        m_firstVerdict(firstVerdict),
        m_directives(directives),
        m_options(options),
        m_splitsEnd(splits == SplitReach::Segments),
        m_accelerated(graph.nodeIdLimit(), 0),
        m_tooSmall(graph.nodeIdLimit(), 0),
        m_level(graph.nodeIdLimit(), 0),
        m_ofConstants(graph.nodeIdLimit(), 0),
        m_position(graph.nodeIdLimit(), 0) {
    for (std::size_t i = 0; i < graph.order().size(); ++i)
      m_position[graph.order()[i].index] = static_cast<std::uint32_t>(i);
  }

  Partitioning run() {
    const auto& order = m_graph.order();
    for (std::size_t i = 0; i < order.size(); ++i) {
      m_accelerated[order[i].index] = m_verdicts[i].supported && m_directives.fallback[order[i].index] < 0;
    }
    findConstantNodes();
    do {
      findLevels();
      m_levelBefore = m_level;
      raiseConstantNodes();
    } while (dropSmallSegments());
    makeSegments();
    for (std::size_t i = 0; i < order.size(); ++i)
      explainNode(order[i], m_firstVerdict + static_cast<std::uint32_t>(i));
    explainRefusedMerges();
    explainMinimum();
    return std::move(m_result);
  }

 private:
  bool accelerated(NodeId id) const { return m_accelerated[id.index] != 0; }

  /// Returns whether the edges that leave an accelerated node end its segment.
  bool endsSegment(NodeId id) const { return m_splitsEnd && accelerated(id) && m_directives.split[id.index] >= 0; }

  /// Returns the number of changes on an edge.
  int changes(NodeId producer, NodeId reader) const {
    if (accelerated(producer) != accelerated(reader)) return 1;
    return endsSegment(producer) ? 2 : 0;
  }

  void findLevels() {
    for (NodeId id : m_graph.order()) {
      int level = accelerated(id) ? 0 : kFirstFallbackLevel;
      for (ValueId value : valuesRead(m_graph.node(id))) {
        const NodeId producer = m_graph.value(value).producer;
        if (!producer.valid()) continue;
        level = std::max(level, m_level[producer.index] + changes(producer, id));
      }
      m_level[id.index] = level;
    }
  }

  void findConstantNodes() {
    for (const NodeId id : m_graph.order()) {
      const auto isConstant = [&](ValueId value) {
        const NodeId producer = m_graph.value(value).producer;
        return producer.valid() ? m_ofConstants[producer.index] != 0 : m_graph.isConstant(value);
      };
      m_ofConstants[id.index] = std::ranges::all_of(valuesRead(m_graph.node(id)), isConstant);
    }
  }

  /// Nothing before such a node has a higher level, so that levels still never decrease along a path.
  void raiseConstantNodes() {
    constexpr int kNobody = std::numeric_limits<int>::max();
    std::vector<int> first(m_graph.nodeIdLimit(), kNobody);  // level of the first reader, as a level of the node's kind
    for (auto id = m_graph.order().rbegin(); id != m_graph.order().rend(); ++id) {
      int& level = m_level[id->index];
      if (m_ofConstants[id->index] != 0 && accelerated(*id) && first[id->index] != kNobody)
        level = std::max(level, first[id->index]);
      for (const ValueId value : valuesRead(m_graph.node(*id))) {
        const NodeId producer = m_graph.value(value).producer;
        if (!producer.valid()) continue;
        first[producer.index] = std::min(first[producer.index], level - changes(producer, *id));
      }
    }
  }

  /// Returns with how many nodes of its level each accelerated node is connected, including itself.
  std::vector<std::size_t> connectedNodes() const {
    std::vector<std::uint32_t> parent(m_graph.nodeIdLimit());
    for (const NodeId id : m_graph.order()) parent[id.index] = id.index;
    const auto top = [&](std::uint32_t at) {
      while (parent[at] != at) at = parent[at] = parent[parent[at]];
      return at;
    };
    for (const NodeId id : m_graph.order()) {
      for (const ValueId value : valuesRead(m_graph.node(id))) {
        const NodeId producer = m_graph.value(value).producer;
        if (!producer.valid() || !accelerated(producer) || !accelerated(id)) continue;
        if (m_level[producer.index] == m_level[id.index]) parent[top(id.index)] = top(producer.index);
      }
    }
    std::vector<std::size_t> sizes(m_graph.nodeIdLimit(), 0);
    for (const NodeId id : m_graph.order()) ++sizes[top(id.index)];
    std::vector<std::size_t> connected(m_graph.nodeIdLimit(), 0);
    for (const NodeId id : m_graph.order()) connected[id.index] = sizes[top(id.index)];
    return connected;
  }

  /// Moves connected parts of segments that are smaller than the minimum to fallback; returns true if there was one.
  bool dropSmallSegments() {
    if (m_directives.minSegment < 2) return false;
    const std::vector<std::size_t> connected = connectedNodes();
    bool dropped = false;
    for (const NodeId id : m_graph.order()) {
      if (!accelerated(id) || connected[id.index] >= m_directives.minSegment) continue;
      m_tooSmall[id.index] = static_cast<int>(connected[id.index]);
      m_accelerated[id.index] = 0;
      dropped = true;
    }
    return dropped;
  }

  void makeSegments() {
    m_result.segmentOf.assign(m_graph.nodeIdLimit(), SegmentId());
    std::map<int, std::vector<NodeId>> byLevel;
    for (NodeId id : m_graph.order()) byLevel[m_level[id.index]].push_back(id);
    for (auto& [level, nodes] : byLevel) {
      Segment segment;
      segment.id = SegmentId(m_result.segments.size());
      segment.kind = accelerated(nodes.front()) ? SegmentKind::Accelerated : SegmentKind::Fallback;
      segment.name = "segment_" + std::to_string(segment.id.index);
      segment.backend = segment.kind == SegmentKind::Accelerated ? runBy() : fallbackRunBy();
      for (NodeId id : nodes) m_result.segmentOf[id.index] = segment.id;
      segment.nodes = std::move(nodes);
      m_result.segments.push_back(std::move(segment));
    }
  }

  /// Returns the backend of our own compiler, or the name of another compiler.
  const std::string& runBy() const {
    return m_options.compiler == kOwnCompiler ? m_target.acceleratedBackend : m_options.compiler;
  }

  /// Returns what runs fallback segments: beside another compiler our own engine, with whichever kernels it has.
  const char* fallbackRunBy() const { return m_options.compiler == kOwnCompiler ? "reference" : kOwnCompiler; }

  /// Returns whose verdict this is: that of the compiler, or that of the target's table.
  const std::string& judgeOf(const NodeVerdict& verdict) const {
    return verdict.why.by == Cause(m_options.compiler) ? m_options.compiler : m_target.name;
  }

  void explainNode(NodeId id, std::uint32_t verdict) {
    std::vector<Subject> subject{Subject::node(m_graph.node(id).name)};
    const std::string& segment = m_result.segments[m_result.segmentOf[id.index].index].name;
    Decision decision = [&] {
      if (const int index = m_directives.fallback[id.index]; index >= 0) {
        const Directive& directive = m_options.directives[static_cast<std::size_t>(index)];
        return decide("partition.forced_fallback", std::move(subject), causeOf(directive), {{"segment", segment}});
      }
      if (m_tooSmall[id.index] > 0) {
        m_result.tooSmall.emplace(id, m_tooSmall[id.index]);
        return decide("partition.too_small", std::move(subject), "partition",
                      {{"nodes", m_tooSmall[id.index]}, {"minimum", m_directives.minSegment}, {"segment", segment}});
      }
      if (!accelerated(id)) m_result.unsupported.push_back(id);
      const bool isAsked = m_verdicts[verdict - m_firstVerdict].why.code != "validate.not_asked";
      const char* code = accelerated(id) ? "partition.supported"
                         : isAsked       ? "partition.not_supported"
                                         : "partition.not_asked";
      const SegmentId own = m_result.segmentOf[id.index];
      if (std::exchange(m_argumentsOf, own) != own) m_arguments = {{"segment", segment}, {"target", m_target.name}};
      m_arguments["target"] = judgeOf(m_verdicts[verdict - m_firstVerdict]);
      return decide(code, std::move(subject), "partition", m_arguments);
    }();
    decision.evidence.push_back(verdict);
    m_result.decisions.push_back(std::move(decision));
  }

  /// Adds one decision for each pair of segments that are connected by an edge and separated by a split, or by a path
  /// through fallback.
  void explainRefusedMerges() {
    if (m_result.segments.size() < 2) return;
    std::map<std::pair<int, int>, bool> explained;
    for (NodeId id : m_graph.order()) {
      if (!accelerated(id) || m_level[id.index] != m_levelBefore[id.index]) continue;
      for (ValueId value : valuesRead(m_graph.node(id))) {
        const NodeId producer = m_graph.value(value).producer;
        if (!producer.valid() || !accelerated(producer) || m_level[producer.index] == m_level[id.index]) continue;
        if (std::exchange(explained[{m_level[producer.index], m_level[id.index]}], true)) continue;
        const NodeId through = endsSegment(producer) ? producer : changeBefore(id);
        m_result.separatedEdges.push_back({producer, id, through});
        m_result.decisions.push_back(whyApart(producer, id, through));
      }
    }
  }

  Decision whyApart(NodeId producer, NodeId reader, NodeId through) const {
    const std::string& from = m_graph.node(producer).name;
    const std::string& to = m_graph.node(reader).name;
    const std::string& via = m_graph.node(through).name;
    std::vector<Subject> subjects{Subject::node(from), Subject::node(to)};
    if (endsSegment(through)) {
      const auto split = static_cast<std::size_t>(m_directives.split[through.index]);
      return decide("partition.split", std::move(subjects), causeOf(m_options.directives[split]),
                    {{"producer", from}, {"consumer", to}, {"node", via}});
    }
    Decision decision = decide("partition.would_cycle", std::move(subjects), "partition",
                               {{"producer", from}, {"consumer", to}, {"through", via}});
    decision.evidence.push_back(m_firstVerdict + m_position[through.index]);
    return decision;
  }

  /// Returns the fallback node or split node that determined the level of `id`: it walks back along a path of the same
  /// level to the change.
  NodeId changeBefore(NodeId id) const {
    for (;;) {
      NodeId same;
      for (ValueId value : valuesRead(m_graph.node(id))) {
        const NodeId producer = m_graph.value(value).producer;
        if (!producer.valid()) continue;
        const int step = changes(producer, id);
        if (step > 0 && m_levelBefore[producer.index] + step == m_levelBefore[id.index]) return producer;
        if (accelerated(producer) && m_levelBefore[producer.index] == m_levelBefore[id.index]) same = producer;
      }
      id = same;
    }
  }

  void explainMinimum() {
    if (m_directives.minSegmentDirective < 0) return;
    const Directive& directive = m_options.directives[static_cast<std::size_t>(m_directives.minSegmentDirective)];
    const auto lost = std::count_if(m_tooSmall.begin(), m_tooSmall.end(), [](int size) { return size > 0; });
    m_result.decisions.push_back(decide("partition.min_segment", {}, causeOf(directive),
                                        {{"minimum", m_directives.minSegment}, {"lost", lost}}));
  }

  const Graph& m_graph;
  const Target& m_target;
  const std::vector<NodeVerdict>& m_verdicts;
  const std::uint32_t m_firstVerdict;
  const DirectiveMap& m_directives;
  const PlanOptions& m_options;
  const bool m_splitsEnd;
  std::vector<char> m_accelerated;
  std::vector<int> m_tooSmall;  ///< size of the segment that was too small, else 0
  std::vector<int> m_level;
  std::vector<int> m_levelBefore;   ///< that what is before a node asks for: nodes of constants are raised from there
  std::vector<char> m_ofConstants;  ///< the node reads constants, and what is calculated of constants, alone
  std::vector<std::uint32_t> m_position;  ///< by NodeId: in graph order
  Partitioning m_result;
  SegmentId m_argumentsOf;  ///< the segment of the decision made last: most nodes are in that of the one before
  DecisionArguments m_arguments;
};

}  // namespace

std::string_view name(SegmentKind kind) {
  return kind == SegmentKind::Accelerated ? "accelerated" : "fallback";
}

Partitioning partitionGraph(const Graph& graph, const Target& target, const std::vector<NodeVerdict>& verdicts,
                            std::uint32_t firstVerdict, const DirectiveMap& directives, const PlanOptions& options,
                            SplitReach splits) {
  return Partitioner(graph, target, verdicts, firstVerdict, directives, options, splits).run();
}

}  // namespace fusescope
