#include "ir/graph.h"
#include "planning/directives/directive_resolver.h"
#include "planning/plan.h"

namespace fusescope {

Directive splitDirective(std::string node) {
  return {.kind = DirectiveKind::Split, .pattern = std::move(node)};
}

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

Decision answer(const Directive& directive, std::vector<Subject> nodes, const Graph&) {
  return decide("fuse.split_honoured", std::move(nodes), causeOf(directive));
}

std::string pointless(const Plan& plan, NodeId node) {
  const FusedNode* fused = plan.fusedNodeOf(node);
  if (fused != nullptr && fused->nodes.size() > 1) return {};
  return "This node is not fused with others: there is nothing to split.";
}

}  // namespace

extern const DirectiveForm kSplitForm{.name = "split",
                                      .option = "--split",
                                      .argument = "NODE",
                                      .help = "Fuse nothing across the output of this node.",
                                      .nothingToDo = "fuse.nothing_to_keep_apart",
                                      .menu = {.text = "Split after",
                                               .tip = "Nothing fuses across this node's output",
                                               .lastOnly = true,
                                               .pointless = pointless},
                                      .parse = parse,
                                      .print = print,
                                      .words = words,
                                      .resolve = resolve,
                                      .answer = answer};

}  // namespace fusescope
