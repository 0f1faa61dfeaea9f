#pragma once

#include <set>
#include <span>
#include <string>
#include <vector>

#include "analysis/contraction.h"
#include "planning/bindings.h"
#include "planning/fusion/match.h"
#include "planning/steps.h"

namespace fusescope {

/// A proposal to run nodes as one kernel.
struct Candidate {
  std::vector<NodeId> nodes;  ///< any node of each group that is to be part of it
  NodeId root;
  std::string_view kind;
  std::vector<std::string_view> rules;  ///< rules at work; the first one is named in the decision
  bool deliversInner = false;           ///< the kernel can leave inner values in memory besides its last one
  std::vector<NodeId> oneType = {};     ///< nodes that such a kernel can only calculate in one type
  Bindings bindings = {};               ///< added to those that the group of the root has
};

/// What all fusion rules work on: which nodes run together so far, and what stands in the way of more. Every merge
/// goes through tryMerge(), which records why not. A merge costs about the size of the smaller side.
class RegionBuilder {
 public:
  /// `scope`: all nodes to look at, in graph order; the accelerated ones may be merged.
  RegionBuilder(const Graph& graph, const Partitioning& partition, std::span<const NodeId> scope,
                const FusionLimits& limits);

  const Graph& graph() const { return m_graph; }
  const std::vector<NodeId>& scope() const { return m_scope; }  ///< the nodes that may be merged
  bool fusible(NodeId node) const { return m_fusible[node.index] != 0; }
  bool alone(NodeId node) const { return fusible(node) && nodesWith(node).size() == 1; }
  /// Whether prices say that `node` is faster on its own than beside others of its input.
  bool keptApart(NodeId node) const { return m_limits.apart != nullptr && (*m_limits.apart)[node.index] != 0; }
  /// What `node` asks of a kernel of one type; Undefined: nothing, as before types are known.
  DataType typeOf(NodeId node) const;
  std::size_t rank(NodeId node) const { return m_rank[node.index]; }  ///< position in the scope
  /// The nodes that run with `node`, itself included, in no order.
  const std::vector<NodeId>& nodesWith(NodeId node) const { return m_contraction.nodes(m_contraction.groupOf(node)); }
  std::string_view kindOf(NodeId node) const;  ///< of the group of `node`
  NodeId rootOf(NodeId node) const;
  const Bindings& bindingsOf(NodeId node) const { return m_info[m_contraction.groupOf(node)].bindings; }
  bool together(NodeId a, NodeId b) const {
    return fusible(a) && fusible(b) && m_contraction.groupOf(a) == m_contraction.groupOf(b);
  }

  /// Merges if nothing stands in the way; else records the reason, unless nobody could have expected the merge.
  bool tryMerge(const Candidate& candidate);
  /// Adds bindings to the group of `node`.
  void bind(NodeId node, const Bindings& bindings);
  /// Records a refusal that a rule found itself; each one once.
  void refuse(std::string_view code, std::string_view rule, NodeId producer, NodeId consumer,
              Json arguments = Json::object()) {
    refuse(code, Cause::rule(rule), rule, producer, consumer, std::move(arguments));
  }

  /// Makes the result: the groups in order, and the refusals.
  Fusion finish();

 private:
  struct Info {
    NodeId root;
    std::string kind;
    std::string rule;
    Bindings bindings;
    std::vector<int> switchedOff;  ///< DirectiveMap::noFuse entries that name one of its nodes
    std::vector<NodeId> oneType;
    NodeId typed;         ///< a node that calculates floats, if there is one
    NodeId wide, narrow;  ///< nodes of f64 and of narrower floats, if there are any
  };
  struct Edge {
    NodeId producer, consumer;
    ValueId value;
  };

  bool refuse(std::string_view code, Cause by, std::string_view rule, NodeId producer, NodeId consumer,
              Json arguments);  ///< false: it is recorded already
  void refuseFor(int directive, std::string_view code, std::string_view rule, NodeId producer, NodeId consumer);
  void refuseTypes(const Candidate& candidate, const TypeConflict& conflict);
  std::vector<std::size_t> groupsOf(const Candidate& candidate) const;
  std::vector<Edge> newEdges(const std::vector<std::size_t>& groups);
  bool member(NodeId node) const { return m_memberMark[m_contraction.groupOf(node)] == m_mark; }
  bool sameSegment(const Candidate& candidate, const std::vector<std::size_t>& groups);
  bool rulesAllowed(const Candidate& candidate, const std::vector<std::size_t>& groups);
  bool edgesAllowed(const Candidate& candidate, const std::vector<Edge>& edges);
  bool typesAgree(const Candidate& candidate, const std::vector<std::size_t>& groups);
  bool agree(const Candidate& candidate, NodeId a, NodeId b);
  bool innerValuesStayInside(const Candidate& candidate, const std::vector<Edge>& edges);
  bool staysAcyclic(const Candidate& candidate, const std::vector<std::size_t>& groups, const std::vector<Edge>& edges);
  const std::string& nameOf(NodeId node) const { return m_graph.node(node).name; }

  const Graph& m_graph;
  const Partitioning& m_partition;
  const FusionLimits& m_limits;
  std::vector<NodeId> m_scope;
  std::vector<char> m_fusible;  ///< by NodeId
  ContractedGraph m_contraction;
  std::vector<std::size_t> m_rank;
  std::vector<Info> m_info;  ///< by group
  std::vector<std::uint32_t> m_memberMark;
  std::uint32_t m_mark = 0;
  std::set<std::string> m_recorded;
  std::vector<Decision> m_refusals;
  std::vector<TypeConflict> m_conflicts;
};

}  // namespace fusescope
