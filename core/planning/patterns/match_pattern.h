#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/stop.h"
#include "ir/model.h"
#include "planning/body_node.h"

namespace fusescope {

class Graph;

/// What a pattern matches.
struct PatternMatch {
  /// Nodes of the graph, in its order, without duplicates; for `value:`, the producers of the values.
  std::vector<NodeId> nodes;
  /// For `value:` only, in id order; inputs, and a constant with exactly this name, are included.
  std::vector<ValueId> values;
  std::vector<BodyNode> inBodies;
  std::vector<OriginId> removed;  ///< nodes of the file that no node of the graph replaces
};

/// Matches patterns against a model. A pattern is a node's name, a glob (`*`, `?`), `/regex/`, `op:Type`,
/// `module:PATH`, `value:NAME`, `BODYNODE/PATTERN` or `GLOB/op:Type`; planning/FORMAT.md defines each. The tables for
/// names are made once, so that many patterns cost little more than one. The model must outlive the matcher and its
/// results. Not thread-safe.
class PatternMatcher {
 public:
  explicit PatternMatcher(const Model& model);

  /// It is an error if a pattern matches nothing (with the most similar names), if it could never match anything (with
  /// the reason), if a regular expression is invalid, or if `stop` was requested.
  Result<PatternMatch> match(std::string_view pattern, const StopToken& stop = {});

 private:
  using NodesByName = std::unordered_map<std::string_view, std::vector<NodeId>>;
  using NodesByModule = std::map<std::string, std::vector<NodeId>, std::less<>>;

  PatternMatch exactly(std::string_view name) const;
  Result<PatternMatch> byForm(std::string_view pattern, const StopToken& stop);
  Result<PatternMatch> byName(std::string_view pattern, const StopToken& stop) const;
  Result<PatternMatch> byOperator(std::string_view op) const;
  Result<PatternMatch> byModule(std::string_view path, const StopToken& stop);
  Result<PatternMatch> byValue(std::string_view name, const StopToken& stop) const;
  Result<std::vector<NodeId>> ofTakenBranch(std::string_view pattern) const;
  Diagnostic nothing(std::string_view pattern);
  std::vector<std::string> candidatesFor(std::string_view pattern);
  const NodesByModule& modules();
  std::vector<NodeId> inOrder(const std::vector<char>& chosen) const;

  const Model& m_model;
  const Graph& m_graph;
  NodesByName m_byOrigin;                                    ///< nodes of the graph, by the names of their origins
  std::unordered_map<std::string_view, OriginId> m_removed;  ///< nodes of the file that no node of the graph replaces
  std::vector<NodeId> m_holders;                             ///< nodes with bodies
  std::optional<NodesByModule> m_modules;                    ///< made when the first pattern of a module is matched
};

}  // namespace fusescope
