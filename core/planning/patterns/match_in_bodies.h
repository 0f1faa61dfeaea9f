#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/stop.h"
#include "ir/model.h"
#include "planning/body_node.h"

namespace fusescope {

class Graph;
struct Node;

// The part of PatternMatcher that finds nodes in the bodies of If, Loop and Scan.

constexpr std::string_view kOperatorPattern = "op:";
/// Precedes each of several patterns that are joined into one. A pattern is joined if no single pattern matches the
/// same nodes in a body.
constexpr char kEachPattern = '\x1f';

/// A pattern "HOLDERS/op:TYPE". `holders` is a glob for the paths of nodes with bodies.
struct OperatorInBodies {
  std::string_view holders, op;
};
/// Parses `pattern`; returns nothing if it has another form.
std::optional<OperatorInBodies> operatorInBodies(std::string_view pattern);

/// Returns the nodes in bodies of `holders` (nodes of the graph of `model`) that a pattern HOLDER/PATTERN matches. The
/// part after the holder's name is a name, a glob, a /regex/ or op:Type. It is an error if a regular expression is
/// invalid, or if `stop` was requested.
Result<std::vector<BodyNode>> namedInBodies(const Model& model, const std::vector<NodeId>& holders,
                                            std::string_view pattern, const StopToken& stop);

/// Adds the nodes of `body`, and of the bodies in it, that `pattern` matches without a holder's name: those in `named`,
/// which the pattern matches in the network of the body itself, and others by their paths. A glob or /regex/ matches
/// paths, and HOLDERS/op:TYPE matches the operators in bodies whose path HOLDERS matches. `graph` contains the holder
/// of `body`. Errors are those of namedInBodies().
Status reachInto(const Graph& graph, const ModelBody& body, std::string_view pattern,
                 const std::set<const Node*>& named, std::vector<BodyNode>& found, const StopToken& stop);

/// Gives all nodes of one body the same BodyNode::rest, because a directive is passed to each body with one pattern. If
/// several patterns match nodes of a body, they are joined, each after kEachPattern.
void uniteRests(std::vector<BodyNode>& found);

/// Adds all nodes of `body`, and of the bodies in it, from the outside in. Except for node, body and place, they are
/// copies of `outermost`.
void addNodesOf(const BodyNode& outermost, const Graph& body, const BodyPath& path, std::vector<BodyNode>& nodes);

/// Adds the paths of all nodes in the bodies of `owner` to `names`.
void addBodyNames(const Node& owner, const BodyPath& around, std::vector<std::string>& names);

}  // namespace fusescope
