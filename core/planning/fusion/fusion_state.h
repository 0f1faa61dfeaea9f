#pragma once

#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "analysis/contraction.h"
#include "planning/fusion/match.h"
#include "planning/steps.h"

namespace fusescope {

/// A proposal to run `nodes` as one kernel.
struct Candidate {
  std::vector<NodeId> nodes;  ///< whole groups: everything that already runs with one of them is among them
  NodeId root;
  std::string_view kind;
  std::vector<std::string_view> rules;  ///< rules at work; the first one is named in the decision
  bool deliversInner = false;           ///< the kernel can leave inner values in memory besides its last one
};

/// What all fusion rules work on: which nodes run together so far, and what stands in the way of more. Every merge
/// goes through tryMerge(), which records why not.
class FusionState {
 public:
  FusionState(const Graph& graph, const Partitioning& partition, const PrecisionMap& precision,
              const DirectiveMap& directives, const PlanOptions& options);

  const Graph& graph() const { return m_graph; }
  bool fusible(NodeId node) const { return m_accelerated[node.index] != 0; }  ///< in an accelerated segment
  bool alone(NodeId node) const { return nodesWith(node).size() == 1; }
  std::size_t rank(NodeId node) const { return m_rank[node.index]; }  ///< position in the graph's order
  /// The nodes that run with `node`, itself included, in graph order.
  const std::vector<NodeId>& nodesWith(NodeId node) const { return m_contraction.nodes(m_contraction.groupOf(node)); }
  std::string kindOf(NodeId node) const;  ///< of the group of `node`
  NodeId rootOf(NodeId node) const;
  bool together(NodeId a, NodeId b) const { return m_contraction.groupOf(a) == m_contraction.groupOf(b); }

  /// Merges if nothing stands in the way; else records the reason, unless nobody could have expected the merge.
  bool tryMerge(const Candidate& candidate);
  /// Records a refusal that a rule found itself; each one once.
  void refuse(std::string_view code, std::string_view rule, NodeId producer, NodeId consumer,
              Json arguments = Json::object());

  /// Makes the result: groups in order, with a decision each.
  Fusion finish();

 private:
  struct Info {
    NodeId root;
    std::string kind;
    std::string rule;
  };
  struct Edge {
    NodeId producer, consumer;
    ValueId value;
  };

  std::vector<Edge> innerEdges(const Candidate& candidate) const;
  bool sameSegment(const Candidate& candidate);
  bool rulesAllowed(const Candidate& candidate);
  bool edgesAllowed(const Candidate& candidate, const std::vector<Edge>& edges);
  bool precisionAgrees(const Candidate& candidate, const std::vector<Edge>& edges);
  bool innerValuesStayInside(const Candidate& candidate, const std::vector<Edge>& edges);
  bool staysAcyclic(const Candidate& candidate, const std::vector<Edge>& edges);
  const std::string& nameOf(NodeId node) const { return m_graph.node(node).name; }
  std::string byDirective(int index) const;

  const Graph& m_graph;
  const Partitioning& m_partition;
  const PrecisionMap& m_precision;
  const DirectiveMap& m_directives;
  const PlanOptions& m_options;
  ContractedGraph m_contraction;
  std::vector<char> m_accelerated;
  std::vector<std::size_t> m_rank;
  std::map<NodeId, Info> m_info;  ///< by the first node of a group of several
  std::set<std::string> m_recorded;
  std::vector<Decision> m_decisions;
};

}  // namespace fusescope
