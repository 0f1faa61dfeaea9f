#pragma once

#include <string>
#include <vector>

#include "base/stop.h"
#include "ir/model.h"
#include "planning/directive.h"
#include "planning/patterns/match_pattern.h"
#include "planning/types/explanations.h"
#include "target/target.h"

namespace fusescope {

/// Which directives apply to each node and value, after matching their patterns. A directive is represented by its
/// index in PlanOptions::directives; -1 means none.
struct DirectiveMap {
  struct NoFuse {
    int directive = -1;
    std::string rule;
    std::vector<char> nodes;  ///< by NodeId
  };
  std::vector<int> pin;              ///< by NodeId: the directive in force
  std::vector<int> outputType;       ///< by ValueId: the directive in force
  std::vector<int> fallback, split;  ///< by NodeId: the directive in force
  std::vector<NoFuse> noFuse;
  TruncateModes truncate;
  int truncateInputsDirective = -1, truncateConstantsDirective = -1;  ///< often the same directive for both
  std::size_t minSegment = 1;
  int minSegmentDirective = -1;
  /// By directive: the nodes that it matched, in graph order, even where it is not in force.
  std::vector<std::vector<NodeId>> nodesOf;
  /// By directive: the nodes in bodies that it matched; the plans of these bodies answer it.
  std::vector<std::vector<BodyNode>> inBodiesOf;
  /// By NodeId: all Pins that matched, by precedence. The first is in force; without it, the second would be, and so
  /// on.
  std::vector<std::vector<int>> pinsOf;
  std::vector<std::vector<int>> outputTypesOf;  ///< by ValueId: all PinOutputs that matched, by precedence
  Explanations explanations;  ///< answers that follow from the patterns alone: overridden, or about removed nodes
};

/// Matches every pattern and decides which directive is in force where. If two directives of one kind match, the later
/// one is in force, but an `obey` takes precedence over a `prefer`. The evidence of the answers is in Model::decisions.
/// It is an error if a pattern matches nothing, if two `obey` directives for the same node or value differ, if a fusion
/// rule is unknown, if an id occurs twice, or if `stop` was requested.
Result<DirectiveMap> resolveDirectives(const Model& model, const Target& target, const Directives& directives,
                                       const StopToken& stop = {});

}  // namespace fusescope
