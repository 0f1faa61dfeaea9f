#pragma once

#include <set>
#include <span>
#include <string>
#include <vector>

#include "analysis/contraction.h"
#include "ir/graph.h"
#include "planning/bindings.h"
#include "planning/fusion/match.h"
#include "planning/steps.h"

namespace fusescope {

/// A proposal to run nodes as one kernel.
struct Candidate {
  std::vector<NodeId> nodes;  ///< at least one node of each group that the kernel is to contain
  NodeId root;
  std::string_view kind;
  std::vector<std::string_view> rules;  ///< the rules that are involved; the decision names the first
  bool deliversInner = false;           ///< the kernel can write inner values to memory, besides its last one
  std::vector<NodeId> oneType = {};     ///< nodes that the kernel can calculate only in one common type
  Bindings bindings = {};               ///< added to the bindings of the root's group
};

/// The state on which all fusion rules work: which nodes run together so far, and what prevents further merges. Every
/// merge goes through tryMerge(), which records why one is refused. The cost of a merge is about the size of the
/// smaller side.
class RegionBuilder {
 public:
  /// `scope` has all nodes to consider, in graph order; only the accelerated ones may be merged.
  RegionBuilder(const Graph& graph, const Partitioning& partition, std::span<const NodeId> scope,
                const FusionLimits& limits);

  const Graph& graph() const { return m_graph; }
  const std::vector<NodeId>& scope() const { return m_scope; }  ///< the nodes that may be merged
  bool fusible(NodeId node) const { return m_fusible[node.index] != 0; }
  bool alone(NodeId node) const { return fusible(node) && nodesWith(node).size() == 1; }
  /// Returns whether prices say that `node` is faster as a separate kernel than together with other products of its
  /// input.
  bool isSeparatedByPrice(NodeId node) const {
    return m_limits.separate != nullptr && (*m_limits.separate)[node.index] != 0;
  }
  /// Returns the type that `node` requires of a kernel of one type, or Undefined if it requires none, or if types are
  /// not known yet.
  DataType typeOf(NodeId node) const;
  std::size_t rank(NodeId node) const { return m_rank[node.index]; }  ///< position in the scope
  /// Returns the nodes that run with `node`, including itself, in no particular order.
  const std::vector<NodeId>& nodesWith(NodeId node) const { return m_contraction.nodes(m_contraction.groupOf(node)); }
  std::string_view kindOf(NodeId node) const;  ///< the kind of the group that contains `node`
  NodeId rootOf(NodeId node) const;
  const Bindings& bindingsOf(NodeId node) const { return m_info[m_contraction.groupOf(node)].bindings; }
  bool together(NodeId a, NodeId b) const {
    return fusible(a) && fusible(b) && m_contraction.groupOf(a) == m_contraction.groupOf(b);
  }

  /// Merges the groups if nothing prevents it. Otherwise it records the reason, unless nobody could have expected the
  /// merge.
  bool tryMerge(const Candidate& candidate);
  /// Adds bindings to the group of `node`.
  void bind(NodeId node, const Bindings& bindings);
  /// Records a refusal that a rule found itself. Equal refusals are recorded once.
  void refuse(std::string_view code, std::string_view rule, NodeId producer, NodeId consumer,
              DecisionArguments arguments = {}) {
    refuse(code, Cause::rule(rule), rule, producer, consumer, std::move(arguments));
  }

  /// Returns the result: the groups in order, and the refusals.
  Fusion finish();

 private:
  struct Info {
    NodeId root;
    std::string kind;
    std::string rule;
    Bindings bindings;
    std::vector<int> switchedOff;  ///< entries of DirectiveMap::noFuse that contain one of its nodes
    std::vector<NodeId> oneType;
    NodeId typed;         ///< a node that calculates floats, if there is one
    NodeId wide, narrow;  ///< a node of f64 and a node of narrower floats, if there are any
  };
  struct Edge {
    NodeId producer, consumer;
    ValueId value;
  };

  bool refuse(std::string_view code, Cause by, std::string_view rule, NodeId producer, NodeId consumer,
              DecisionArguments arguments);  ///< false if it is recorded already
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
