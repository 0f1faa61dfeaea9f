#include "planning/optimised_operators.h"

#include <map>
#include <string_view>

namespace fusescope {
namespace {

/// By the name of a node of the file: how its operator was read.
std::map<std::string_view, const Decision*> readInPlainForm(const Model& model) {
  std::map<std::string_view, const Decision*> found;
  for (const Decision& decision : model.decisions)
    if (decision.code == "import.plain_form") found.emplace(decision.subjects.front().name, &decision);
  return found;
}

}  // namespace

void refuseOptimisedOperators(const Model& model, const Target& target, std::vector<Decision>& verdicts) {
  if (!target.planningOnly) return;
  const auto read = readInPlainForm(model);
  if (read.empty()) return;
  std::size_t at = 0;
  for (const NodeId id : model.graph->order()) {
    Decision& verdict = verdicts[at++];
    for (const OriginId origin : model.graph->node(id).origins) {
      const auto found = read.find(model.origins[origin.index].name);
      if (found == read.end() || !verdict.allowed) continue;
      const std::string form = found->second->arguments["form"].get<std::string>();
      verdict =
          decide("validate.operator_not_supported", verdict.subjects, target.name,
                 {{"op", found->second->arguments["op"]},
                  {"target", target.name},
                  {"equivalent", form},
                  {"hint", "; the same can be said by " + form + ": take the file from before it was optimised"}});
    }
  }
}

}  // namespace fusescope
