#include "planning/optimised_operators.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>
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

bool hasUpperCase(const std::string& equation) {
  return std::ranges::any_of(equation, [](char c) { return std::isupper(static_cast<unsigned char>(c)) != 0; });
}

/// The names of the file's Einsums whose letters are not all in lower case, whatever normalisation made of them.
std::set<std::string_view> einsumsInUpperCase(const Model& model) {
  std::set<std::string_view> found;
  for (const Decision& decision : model.decisions)
    if (decision.code == "normalise.einsum_product" && hasUpperCase(decision.arguments["equation"].get<std::string>()))
      found.insert(decision.subjects.front().name);
  for (const NodeId id : model.graph->order()) {
    const Node& node = model.graph->node(id);
    if (node.is("Einsum") && hasUpperCase(node.textAttribute("equation", ""))) found.insert(node.name);
  }
  return found;
}

}  // namespace

void refuseUnreadableEinsums(const Model& model, const Target& target, std::vector<Decision>& verdicts) {
  if (!target.planningOnly) return;
  const auto unreadable = einsumsInUpperCase(model);
  if (unreadable.empty()) return;
  const std::string statement = "the letters of its equation are in lower case, which would mean the same";
  std::size_t at = 0;
  for (const NodeId id : model.graph->order()) {
    Decision& verdict = verdicts[at++];
    for (const OriginId origin : model.graph->node(id).origins) {
      if (!verdict.allowed || !unreadable.contains(model.origins[origin.index].name)) continue;
      verdict = decide("validate.restriction_not_met", verdict.subjects, target.name,
                       {{"op", "Einsum"}, {"target", target.name}, {"name", "equation"}, {"statement", statement}});
    }
  }
}

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
