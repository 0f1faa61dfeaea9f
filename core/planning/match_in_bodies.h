#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "planning/match_pattern.h"

namespace fusescope {

// What PatternMatcher needs to find nodes in the bodies of If, Loop and Scan.

constexpr std::string_view kOperatorPattern = "op:";
/// Before each of several patterns that are one: what a pattern comes to in a body where no single one says it.
constexpr char kEachPattern = '\x1f';

/// "HOLDERS/op:TYPE", with a glob in place of the name of a node with bodies.
struct OperatorInBodies {
  std::string_view holders, op;
};
/// `pattern` as one; nothing: it is of another form.
std::optional<OperatorInBodies> operatorInBodies(std::string_view pattern);

/// The nodes that HOLDER/PATTERN names in bodies of `holders`, nodes of the graph of `model`. A name, a glob, a /regex/
/// or op:Type stands behind the holder's name. Errors: a regular expression that is none; cancelled.
Result<std::vector<BodyNode>> namedInBodies(const Model& model, const std::vector<NodeId>& holders,
                                            std::string_view pattern, const StopToken& stop);

/// Adds the nodes of `body`, and of the bodies in it, that `pattern` names there as it stands; of a glob or /regex/
/// also those whose path it matches, of HOLDERS/op:TYPE those of the operator in bodies whose path HOLDERS matches.
/// `graph` holds the body's holder. Errors as of namedInBodies().
Status reachInto(const Graph& graph, const ModelBody& body, std::string_view pattern, std::vector<BodyNode>& found,
                 const StopToken& stop);

/// Gives all nodes of one body the same BodyNode::rest, because a directive goes to each body under one pattern: where
/// several patterns name nodes of it, that is all of them, each behind kEachPattern.
void uniteRests(std::vector<BodyNode>& found);

/// Adds all nodes of `body`, and of the bodies in it, from the outside in. They are copies of `outermost` in all but
/// node, body and place.
void addNodesOf(const BodyNode& outermost, const Graph& body, const BodyPath& path, std::vector<BodyNode>& nodes);

/// Adds the names with their paths of all nodes of the bodies of `owner`.
void addBodyNames(const Node& owner, const BodyPath& around, std::vector<std::string>& names);

}  // namespace fusescope
