#include "planning/optimised_operators.h"

#include <map>
#include <string_view>

#include "ops/support/einsum_equation.h"

namespace fusescope {
namespace {

/// By the name of a node of the file: how its operator was read.
std::map<std::string_view, const Decision*> readInPlainForm(const Model& model) {
  std::map<std::string_view, const Decision*> found;
  for (const Decision& decision : model.decisions)
    if (decision.code == "import.plain_form") found.emplace(decision.subjects.front().place.name, &decision);
  return found;
}

/// By name: the equations of the file's Einsums whose letters are not all in lower case, whatever normalisation made of
/// them.
std::map<std::string_view, std::string> einsumsInUpperCase(const Model& model) {
  std::map<std::string_view, std::string> found;
  const auto add = [&](std::string_view name, std::string equation) {
    if (ops::hasUpperCase(equation)) found.emplace(name, std::move(equation));
  };
  for (const Decision& decision : model.decisions)
    if (decision.code == "normalise.einsum_product")
      add(decision.subjects.front().place.name, decision.arguments["equation"].get<std::string>());
  for (const NodeId id : model.graph->order()) {
    const Node& node = model.graph->node(id);
    if (node.is("Einsum")) add(node.name, node.textAttribute("equation", ""));
  }
  return found;
}

/// The verdict `allowed` of a node that stands for an Einsum of `equation`.
Decision withLettersOf(const Decision& allowed, const std::string& equation, const Target& target) {
  if (const auto written = ops::inLowerCase(equation)) {
    if (allowed.code != "validate.supported") return allowed;  // it says something else that must be known
    return decide(
        "validate.supported_with_caveat", allowed.subjects, target.name,
        {{"op", "Einsum"},
         {"target", target.name},
         {"caveat", "reads letters in lower case only: an export writes the equation as '" + *written + "'"}});
  }
  return decide(
      "validate.restriction_not_met", allowed.subjects, target.name,
      {{"op", "Einsum"},
       {"target", target.name},
       {"name", "equation"},
       {"statement",
        "the letters of its equation are in lower case; this one has more than 26 letters, which cannot all be so"}});
}

}  // namespace

void judgeEinsumLetters(const Model& model, const Target& target, std::vector<Decision>& verdicts) {
  if (!target.planningOnly) return;
  const auto equations = einsumsInUpperCase(model);
  if (equations.empty()) return;
  std::size_t at = 0;
  for (const NodeId id : model.graph->order()) {
    Decision& verdict = verdicts[at++];
    for (const OriginId origin : model.graph->node(id).origins) {
      const auto found = equations.find(model.origins[origin.index].name);
      if (verdict.allowed && found != equations.end()) verdict = withLettersOf(verdict, found->second, target);
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
