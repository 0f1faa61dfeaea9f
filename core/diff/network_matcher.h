#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "diff/matched_by.h"
#include "diff/node_labels.h"
#include "ir/graph.h"

namespace fusescope {

/// One of the two networks, with data that is looked up repeatedly.
struct MatchSide {
  explicit MatchSide(const Graph& of) : graph(of), links(linksOf(of)), strict(fingerprints(of, Likeness::Strict)) {}
  const std::vector<std::uint64_t>& own(Likeness likeness);

  const Graph& graph;
  NodeLinks links;
  std::vector<std::uint64_t> strict, loose;
  BorderLabels borders;
};

struct MatchPairs {
  MatchPairs(const Graph& a, const Graph& b)
      : ofA(a.nodeIdLimit()), ofB(b.nodeIdLimit()), how(a.nodeIdLimit(), MatchedBy::Nothing) {}
  void add(NodeId a, NodeId b, MatchedBy by);
  void drop(NodeId a);

  std::vector<NodeId> ofA, ofB;  ///< for each NodeId of A and of B: the counterpart
  std::vector<MatchedBy> how;    ///< for each NodeId of A
  std::size_t count = 0;
};

bool isSameOperator(const Node& a, const Node& b);
/// Returns whether `reader` reads the result of `from` that `link` describes.
bool hasRead(const MatchSide& side, NodeId reader, NodeId from, const Link& link);

/// The steps of matchNetworks(); each leaves matched nodes unchanged. The sides must outlive it.
class NetworkMatcher {
 public:
  NetworkMatcher(MatchSide& a, MatchSide& b) : m_a(a), m_b(b), m_pairs(a.graph, b.graph) {}

  MatchPairs byNamesFirst();
  MatchPairs byStructureAlone();
  /// Extends `known`: first by nodes with equal names that are not matched elsewhere, then along the edges.
  MatchPairs around(MatchPairs known);

 private:
  bool free(NodeId a, NodeId b) const { return !m_pairs.ofA[a.index].valid() && !m_pairs.ofB[b.index].valid(); }
  int agreement(NodeId a, NodeId b) const;
  void byName();
  void byNameInPlace();
  void byStructure(Likeness likeness);
  /// The distance within which the neighbours of two nodes are compared: steps towards the inputs, and towards the
  /// outputs.
  struct Reach {
    int up, down;
  };
  static std::vector<std::uint64_t> labels(MatchSide& side, Likeness likeness, const Reach& reach);
  void byLabels(Likeness likeness, const Reach& reach);
  void growFromAll(Likeness likeness, bool inOrder);
  void match(NodeId a, NodeId b, Likeness likeness, bool inOrder);
  void grow(NodeId from, Likeness likeness, bool inOrder);
  using Place = std::tuple<std::uint32_t, std::uint32_t, std::uint64_t>;
  std::map<Place, std::pair<std::vector<NodeId>, std::vector<NodeId>>> freeAround(
      NodeId a, NodeId b, std::vector<std::vector<Link>> NodeLinks::*direction, Likeness likeness);

  MatchSide& m_a;
  MatchSide& m_b;
  MatchPairs m_pairs;
};

}  // namespace fusescope
