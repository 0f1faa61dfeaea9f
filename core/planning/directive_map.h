#pragma once

#include <string>
#include <vector>

#include "base/stop.h"
#include "ir/model.h"
#include "planning/directive.h"
#include "target/target.h"

namespace fusescope {

/// Which directives speak of each node and value, with patterns matched. An index is into the directives, -1: none.
struct DirectiveMap {
  struct NoFuse {
    int directive = -1;
    std::string rule;
    std::vector<char> nodes;  ///< by NodeId
  };
  std::vector<int> pin;              ///< by NodeId: the directive in force
  std::vector<int> outputType;       ///< by ValueId
  std::vector<int> fallback, split;  ///< by NodeId
  std::vector<NoFuse> noFuse;
  TruncateMode truncate = TruncateMode::Long;
  int truncateDirective = -1;
  std::size_t minSegment = 1;
  int minSegmentDirective = -1;
  std::vector<std::vector<NodeId>> nodesOf;  ///< by directive: what its pattern matched, graph order
  std::vector<std::vector<int>> pinsOf;      ///< by NodeId: every Pin that matched it, the one in force first
  std::vector<Decision> decisions;
};

/// Matches every pattern. Errors: a pattern that matches nothing, an unknown fusion rule, a duplicate id.
Result<DirectiveMap> resolveDirectives(const Model& model, const Target& target, const Directives& directives,
                                       const StopToken& stop = {});
/// How a directive is named in Decision::by: "pin:3".
std::string directiveName(const Directive& directive);

}  // namespace fusescope
