#pragma once

#include <string>
#include <vector>

#include "base/stop.h"
#include "ir/model.h"
#include "planning/directive.h"
#include "planning/match_pattern.h"
#include "planning/wish_answers.h"
#include "target/target.h"

namespace fusescope {

/// Which directives speak of each node and value, with patterns matched. A directive is given by its index in
/// PlanOptions::directives, -1: none.
struct DirectiveMap {
  struct NoFuse {
    int directive = -1;
    std::string rule;
    std::vector<char> nodes;  ///< by NodeId
  };
  std::vector<int> pin;              ///< by NodeId: the one in force
  std::vector<int> outputType;       ///< by ValueId: the one in force
  std::vector<int> fallback, split;  ///< by NodeId: the one in force
  std::vector<NoFuse> noFuse;
  TruncateModes truncate;
  int truncateInputsDirective = -1, truncateConstantsDirective = -1;  ///< often one for both
  std::size_t minSegment = 1;
  int minSegmentDirective = -1;
  std::vector<std::vector<NodeId>> nodesOf;  ///< by directive: what it matched, in graph order, in force there or not
  std::vector<std::vector<BodyNode>> inBodiesOf;  ///< by directive: what it matched in bodies; answered by their plans
  std::vector<std::vector<int>> pinsOf;         ///< by NodeId: every Pin that matched it, the one in force first, then
                                                ///< the one that would be in force without it, …
  std::vector<std::vector<int>> outputTypesOf;  ///< by ValueId: every PinOutput that matched it, likewise
  Explanations said;                            ///< what the patterns alone answer: overridden, removed
};

/// Matches every pattern and settles which directive is in force where: of two of one kind the later, but an `obey`
/// before a `prefer`. Evidence of what is said is in Model::decisions. Errors: a pattern that matches nothing, two
/// different `obey` on one node or value, an unknown fusion rule, a duplicate id; cancelled.
Result<DirectiveMap> resolveDirectives(const Model& model, const Target& target, const Directives& directives,
                                       const StopToken& stop = {});

}  // namespace fusescope
