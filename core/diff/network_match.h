#pragma once

#include <string>
#include <vector>

#include "ir/model.h"

namespace fusescope {

/// How the counterpart of a node was found.
enum class MatchedBy : std::uint8_t { Nothing, Id, Name, Structure };

/// Which nodes and values of two networks, A and B, are each other's counterparts. Every counterpart goes both ways.
struct NetworkMatch {
  std::vector<NodeId> nodeOfB;       ///< by NodeId of A; invalid: it has none
  std::vector<NodeId> nodeOfA;       ///< by NodeId of B
  std::vector<MatchedBy> how;        ///< by NodeId of A
  std::vector<ValueId> valueOfB;     ///< by ValueId of A; constants too, as far as matched nodes read them
  std::vector<ValueId> valueOfA;     ///< by ValueId of B
  std::vector<NodeId> onlyA, onlyB;  ///< without a counterpart, in graph order
  std::vector<NodeId> changed;       ///< of A: the counterpart differs in attributes or constants' types

  std::int64_t count(MatchedBy by) const;
};

/// Graphs that hold the same nodes under the same ids are matched by them. Else by name where the operators are alike
/// and more neighbours agree than contradict; what is left by structure: what is calculated from the inputs on and what
/// is made of it up to the outputs, first of the whole network, then within a few steps, then along the edges of what
/// is matched; weights' elements and names count for nothing. A node that changed is matched where its place says so.
/// Where edges are left that do not agree, structure alone is tried as well, and holds if it matches more nodes or
/// clearly more edges agree with it.
/// Where options put codes into one or both, what these were quantised from is matched so, and the codes around it, by
/// name and along the edges.
/// Deterministic; about linear in the edges. Bodies are graphs of their own: their holders match by operator.
NetworkMatch matchNetworks(const Model& a, const Model& b);

/// What of a matched node differs between the networks, for people: "attribute pads, operand 1: f32[8] and f32[16]".
std::string changeText(const Graph& a, NodeId nodeOfA, const Graph& b, NodeId nodeOfB);

}  // namespace fusescope
