#include "planning/optimised_operators.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "ops/no_kernel.h"
#include "ops/op_schema.h"
#include "ops/support/einsum_equation.h"
#include "target/target_table.h"

namespace fusescope {
namespace {

/// Adds to the verdict of a node for an Einsum of `equation` what the user has to know about its letters.
void judgeLetters(NodeVerdict& verdict, const std::string& equation, const Target& target) {
  const std::vector<Subject>& subjects = verdict.why.subjects;
  if (const auto written = ops::inLowerCase(equation)) {
    if (verdict.qualified) return;  // it already states another qualification
    verdict.qualified = true;
    verdict.why =
        decide("validate.supported_with_caveat", subjects, target.name,
               {{"op", "Einsum"},
                {"target", target.name},
                {"caveat", "accepts only lower case letters: an export writes the equation as '" + *written + "'"}});
    return;
  }
  verdict = {{.why = decide("validate.restriction_not_met", subjects, target.name,
                            {{"op", "Einsum"},
                             {"target", target.name},
                             {"name", "equation"},
                             {"statement",
                              "its equation has only lower case letters; this one has more than 26 letters, so that it "
                              "needs others"}})}};
}

/// Returns the equation of the Einsum of the file that `node` is or was made of; empty if there is none.
std::string equationOf(const Node& node, const Origin& origin) {
  const bool is = node.is("Einsum") && node.name == origin.name;
  return is ? node.textAttribute("equation", "") : origin.equation;
}

/// Calls `judge` with the verdict, with a node that is supported so far, and with each of its origins.
template <class Judge>
void forSupported(const Model& model, std::vector<NodeVerdict>& verdicts, Judge judge) {
  std::size_t at = 0;
  for (const NodeId id : model.graph->order()) {
    NodeVerdict& verdict = verdicts[at++];
    const Node& node = model.graph->node(id);
    for (const OriginId origin : node.origins)
      if (verdict.supported) judge(verdict, node, model.origins[origin.index]);
  }
}

/// Returns whether `origin` is an operator of ONNX itself that import replaced by others.
bool isInlined(const Origin& origin) {
  constexpr std::array<std::string_view, 4> kOnnxDomains{"", "ai.onnx.ml", "ai.onnx.preview",
                                                         "ai.onnx.preview.training"};
  return std::ranges::find(kOnnxDomains, origin.domain) != kOnnxDomains.end() &&
         OpRegistry::standard().find(origin.domain, origin.op) == nullptr;
}

}  // namespace

void refuseInlinedOperators(const Model& model, const Target& target, std::vector<NodeVerdict>& verdicts) {
  if (!target.planningOnly) return;
  forSupported(model, verdicts, [&](NodeVerdict& verdict, const Node&, const Origin& origin) {
    if (!isInlined(origin)) return;
    const std::string op = operatorText(origin.domain, origin.op);
    const OperatorRow* row = target.table->find(op);
    if (row != nullptr && row->supported) return;
    verdict = {
        {.why = decide(
             "validate.operator_not_supported", verdict.why.subjects, target.name,
             {{"op", op}, {"target", target.name}, {"hint", "; an export replaces it by the nodes of its function"}})}};
  });
}

void judgeEinsumLetters(const Model& model, const Target& target, std::vector<NodeVerdict>& verdicts) {
  if (!target.planningOnly || target.table->unlisted == Unlisted::Accepted) return;
  forSupported(model, verdicts, [&](NodeVerdict& verdict, const Node& node, const Origin& origin) {
    const std::string equation = equationOf(node, origin);
    if (ops::hasUpperCase(equation)) judgeLetters(verdict, equation, target);
  });
}

void refuseOptimisedOperators(const Model& model, const Target& target, std::vector<NodeVerdict>& verdicts) {
  if (!target.planningOnly || target.table->unlisted == Unlisted::Accepted) return;
  forSupported(model, verdicts, [&](NodeVerdict& verdict, const Node&, const Origin& origin) {
    const std::string& form = origin.plainForm;
    if (form.empty()) return;
    verdict = {
        {.why = decide("validate.operator_not_supported", verdict.why.subjects, target.name,
                       {{"op", operatorText(origin.domain, origin.op)},
                        {"target", target.name},
                        {"equivalent", form},
                        {"hint", "; it can be expressed by " + form + ": use the file from before it was optimised"}}),
         .equivalent = form}};
  });
}

}  // namespace fusescope
