#include <algorithm>

#include "ir/graph.h"
#include "planning/directive_effects.h"
#include "planning/directives/directive_resolver.h"
#include "planning/plan.h"
#include "planning/structure.h"

namespace fusescope {

Directive splitDirective(std::string node) {
  return {.kind = DirectiveKind::Split, .pattern = std::move(node)};
}

namespace split_directive {
namespace {

Result<Directive> parse(std::string_view text) {
  return splitDirective(std::string(text));
}

std::string print(const Directive& directive) {
  return directive.pattern;
}

std::string words(const Directive& directive) {
  return "split after " + directive.pattern;
}

Status resolve(DirectiveResolver& resolver, int index) {
  return resolver.claimEach(resolver.map().split, index);
}

/// Returns whether another compiler runs both the node and something that reads a result of it.
bool hasOtherSide(const Plan& plan, NodeId node) {
  const std::vector<char>& accelerated = plan.structure->accelerated;
  if (accelerated[node.index] == 0) return false;
  return std::ranges::any_of(plan.graph().node(node).outputs, [&](ValueId output) {
    return output.valid() && std::ranges::any_of(plan.graph().value(output).consumers,
                                                 [&](NodeId reader) { return accelerated[reader.index] != 0; });
  });
}

Decision answerOfOther(const Directive& directive, std::span<const NodeId> nodes, const Plan& plan) {
  const std::string& compiler = plan.options.compiler;
  std::vector<NodeId> ends;
  std::ranges::copy_if(nodes, std::back_inserter(ends), [&](NodeId node) { return hasOtherSide(plan, node); });
  if (ends.empty())
    return decide("fuse.nothing_to_keep_apart", subjectsOf(plan.graph(), nodes), causeOf(directive),
                  {{"became", compiler + " does not run both this node and a node that reads it"}});
  return decide("partition.segment_ends", subjectsOf(plan.graph(), ends), causeOf(directive), {{"compiler", compiler}});
}

Decision answer(const Directive& directive, std::span<const NodeId> nodes, const Plan& plan) {
  const std::string whyNot = whyNoEffect(plan, directive);
  if (!whyNot.empty())
    return decide("fuse.without_effect", subjectsOf(plan.graph(), nodes), causeOf(directive),
                  {{"option", "--split"}, {"compiler", plan.options.compiler}, {"why", whyNot}});
  if (plan.options.compiler != kOwnCompiler) return answerOfOther(directive, nodes, plan);
  return decide("fuse.split_honoured", subjectsOf(plan.graph(), nodes), causeOf(directive));
}

std::string pointless(const Plan& plan, NodeId node) {
  if (plan.options.compiler != kOwnCompiler)
    return hasOtherSide(plan, node) ? ""
                                    : "Only another segment, or nothing, reads this node: there is nothing to split.";
  const FusedNode* fused = plan.fusedNodeOf(node);
  if (fused != nullptr && fused->nodes.size() > 1) return {};
  return "This node is not fused with others: there is nothing to split.";
}

}  // namespace
}  // namespace split_directive

extern const DirectiveForm kSplitForm{.name = "split",
                                      .option = "--split",
                                      .argument = "NODE",
                                      .help =
                                          "Fuse nothing across the output of this node. A segment of another "
                                          "compiler ends there.",
                                      .nothingToDo = "fuse.nothing_to_keep_apart",
                                      .menu = {.text = "Split after",
                                               .tip = "Nothing fuses across this node's output",
                                               .lastOnly = true,
                                               .pointless = split_directive::pointless},
                                      .parse = split_directive::parse,
                                      .print = split_directive::print,
                                      .words = split_directive::words,
                                      .resolve = split_directive::resolve,
                                      .answer = split_directive::answer};

}  // namespace fusescope
