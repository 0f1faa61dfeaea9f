#include "interchange/recipes/recipe.h"

#include "base/json.h"

#include <utility>

namespace fusescope {

Json toJson(const UnmappedEntry& entry) {
  return {{"entry", entry.entry}, {"why", entry.why}};
}

void adopt(const Recipe& recipe, PlanOptions& options) {
  std::erase_if(options.directives, [](const Directive& directive) { return asksForAType(directive); });
  options.precisions = recipe.precisions;
  if (recipe.workspaceBytes > 0) options.workspaceBytes = recipe.workspaceBytes;
  if (recipe.ranges != nullptr) options.ranges = recipe.ranges;
  for (Directive directive : recipe.directives) {
    if (!options.directives.empty()) directive.id.clear();
    options.directives.push_back(std::move(directive));
  }
  assignIds(options.directives);
}

}  // namespace fusescope
