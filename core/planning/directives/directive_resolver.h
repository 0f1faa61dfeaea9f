#pragma once

#include <optional>
#include <vector>

#include "planning/directive_answers.h"
#include "planning/directive_map.h"
#include "planning/directives/directive_form.h"
#include "planning/patterns/match_pattern.h"

namespace fusescope {

class Graph;

/// Matches the patterns of a list of directives and decides which directive is in force where. Each kind writes its
/// entries into the map; claim() and takeOver() decide if two directives apply to the same place.
class DirectiveResolver {
 public:
  /// All arguments must outlive this object.
  DirectiveResolver(const Model& model, const Target& target, const Directives& directives, const StopToken& stop);
  Result<DirectiveMap> run();

  const Graph& graph() const { return m_graph; }
  const Directive& at(int index) const { return m_directives[static_cast<std::size_t>(index)]; }
  DirectiveMap& map() { return m_map; }
  /// Matches the pattern of a directive, and answers for everything that it matches besides nodes of the graph.
  Result<PatternMatch> match(int index);
  /// Enters a directive into `slot`, an entry of the map about `node`, unless an `obey` is there and the directive is a
  /// `prefer`. It is an error if two `obey` directives differ.
  Status claim(int& slot, int index, NodeId node);
  /// Matches the pattern, and claims the entries of the matched nodes in a table by NodeId.
  Status claimEach(std::vector<int>& table, int index);
  /// Enters a directive into `slot`, an entry of the map for which the last directive is always in force.
  void takeOver(int& slot, int index);

 private:
  /// A directive that is not in force at a place.
  struct Lost {
    int directive;
    const int* slot;  ///< contains the directive in force when all are resolved
    NodeId node;      ///< invalid if the place is not about a node
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
