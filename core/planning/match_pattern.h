#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/stop.h"
#include "ir/model.h"
#include "ir/place.h"

namespace fusescope {

/// A node of the body of an If, Loop or Scan, at any depth.
struct BodyNode {
  NodeId holder;                ///< the node of the graph whose body it is in
  const Node* node = nullptr;   ///< null for a node of the file that normalisation took out of the body
  const Graph* body = nullptr;  ///< the graph that holds `node`
  NetworkPlace place;
  std::string rest;  ///< of the pattern, behind the outermost of them

  /// The body of `holder` that it is in, itself or deeper.
  const std::string& attribute() const { return place.bodies.steps().front().attribute; }
};

/// What a pattern names.
struct PatternMatch {
  std::vector<NodeId> nodes;    ///< of the graph, in its order, each once; of `value:` those that make the values
  std::vector<ValueId> values;  ///< of `value:` alone, in id order; also inputs, and a constant named exactly
  std::vector<BodyNode> inBodies;
  std::vector<OriginId> removed;  ///< nodes of the file that no node of the graph stands for
};

/// Matches patterns against a model. A pattern is a node's name, a glob (`*`, `?`), `/regex/`, `op:Type`,
/// `module:PATH`, `value:NAME`, `BODYNODE/PATTERN` or `GLOB/op:Type`; planning/FORMAT.md says what each means. What a
/// name needs is found through tables that are made once, so that many patterns cost little more than one. The model
/// must outlive the matcher and what it returns. Not thread-safe.
class PatternMatcher {
 public:
  explicit PatternMatcher(const Model& model);

  /// Errors: a pattern that matches nothing, with the nearest names; one that could match nothing, with the reason; a
  /// regular expression that is none; cancelled.
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
  NodesByName m_byOrigin;                                    ///< nodes of the graph by the names of their origins
  std::unordered_map<std::string_view, OriginId> m_removed;  ///< nodes of the file that left no node
  std::vector<NodeId> m_holders;                             ///< nodes with bodies
  std::optional<NodesByModule> m_modules;                    ///< made when the first pattern asks for a module
};

}  // namespace fusescope
