#pragma once

#include <string>

#include "base/ids.h"
#include "ir/place.h"

namespace fusescope {

class Graph;
struct Node;

/// A node of the body of an If, Loop or Scan, at any depth.
struct BodyNode {
  NodeId holder;                ///< the node of the graph that contains the outermost body
  const Node* node = nullptr;   ///< null for a node of the file that normalisation removed from the body
  const Graph* body = nullptr;  ///< the graph that contains `node`
  NetworkPlace place;
  std::string rest;  ///< the part of the pattern after the outermost holder

  /// Returns the attribute of the outermost holder that contains it.
  const std::string& attribute() const { return place.bodies.steps().front().attribute; }
};

}  // namespace fusescope
