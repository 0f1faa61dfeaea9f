#pragma once

#include <optional>
#include <vector>

#include "planning/directive_answers.h"
#include "planning/directive_map.h"
#include "planning/directives/directive_form.h"
#include "planning/match_pattern.h"

namespace fusescope {

/// Matches the patterns of a list of directives and settles which is in force where. Each kind writes what it wishes
/// into the map; what two directives want of one place goes through claim() or takeOver().
class DirectiveResolver {
 public:
  /// All references must outlive this.
  DirectiveResolver(const Model& model, const Target& target, const Directives& directives, const StopToken& stop);
  Result<DirectiveMap> run();

  const Graph& graph() const { return m_graph; }
  const Directive& at(int index) const { return m_directives[static_cast<std::size_t>(index)]; }
  DirectiveMap& map() { return m_map; }
  /// Matches the pattern, and answers for all that it names outside the graph's nodes.
  Result<PatternMatch> match(int index);
  /// Lets a directive have a place of the map that is about `node`, unless an `obey` holds it against its `prefer`.
  /// Errors: two different `obey`.
  Status claim(int& slot, int index, NodeId node);
  /// Matches the pattern and claims the places of the nodes in a table by NodeId.
  Status claimEach(std::vector<int>& table, int index);
  /// Lets a directive have a place of the map of which the last always has it.
  void takeOver(int& slot, int index);

 private:
  /// A directive that is not in force somewhere.
  struct Lost {
    int directive;
    const int* slot;  ///< holds the one in force, once all are resolved
    NodeId node;      ///< invalid: it is about no node
  };

  bool overrides(int later, int earlier) const;
  Diagnostic conflict(const Directive& earlier, const Directive& later, NodeId node) const;
  void orderPins(std::vector<std::vector<int>>& table) const;
  void explainOverridden();

  const Model& m_model;
  const Graph& m_graph;
  std::optional<PatternMatcher> m_matcher;  ///< made for the first pattern
  DirectiveAnswers m_answers;
  const Directives& m_directives;
  const StopToken& m_stop;
  std::vector<Lost> m_lost;
  DirectiveMap m_map;
};

}  // namespace fusescope
