#include <algorithm>

#include "base/json.h"
#include "base/text.h"
#include "planning/directive_effects.h"
#include "planning/directives/directive_fields.h"
#include "planning/directives/directive_resolver.h"
#include "planning/fused_node_facts.h"
#include "planning/plan.h"
#include "planning/steps.h"

namespace fusescope {

Result<Directive> parseNoFuse(std::string_view text) {
  const std::size_t at = text.find('@');
  Directive directive{.kind = DirectiveKind::NoFuse, .rule = std::string(text.substr(0, at))};
  const std::string form = "The form is RULE or RULE@NODE.";
  if (directive.rule.empty()) return badArgument("--no-fuse", text, "the rule is empty", form);
  if (at == std::string_view::npos) return directive;
  directive.pattern = std::string(text.substr(at + 1));
  if (directive.pattern.empty()) return badArgument("--no-fuse", text, "the node after '@' is empty", form);
  return directive;
}

namespace no_fuse_directive {
namespace {

std::string print(const Directive& directive) {
  return directive.rule + (directive.pattern.empty() ? "" : "@" + directive.pattern);
}

std::string words(const Directive& directive) {
  return "no " + directive.rule + " fusion" + (directive.pattern.empty() ? "" : " at " + directive.pattern);
}

void write(const Directive& directive, Json& json) {
  json["rule"] = directive.rule;
}

Status read(const DirectiveFields& fields, Directive& into) {
  into.rule = TRY(fields.text("rule"));
  return Done{};
}

Status resolve(DirectiveResolver& resolver, int index) {
  const Directive& directive = resolver.at(index);
  const std::vector<std::string> known = fusionRuleNames();
  if (std::ranges::find(known, directive.rule) == known.end()) {
    return Diagnostic{.message = "'" + directive.rule + "' is not a fusion rule",
                      .where = {.attribute = "--no-fuse"},
                      .help = "Rules: " + joined(known) + "."};
  }
  DirectiveMap::NoFuse noFuse{.directive = index, .rule = directive.rule};
  noFuse.nodes.assign(resolver.graph().nodeIdLimit(), directive.pattern.empty() ? 1 : 0);
  if (!directive.pattern.empty()) {
    const PatternMatch found = TRY(resolver.match(index));
    if (found.nodes.empty()) return Done{};  // it was answered already
    for (const NodeId id : found.nodes) noFuse.nodes[id.index] = 1;
  }
  resolver.map().noFuse.push_back(std::move(noFuse));
  return Done{};
}

Decision answer(const Directive& directive, std::span<const NodeId> nodes, const Plan& plan) {
  const Graph& graph = plan.graph();
  const std::string& compiler = plan.options.compiler;
  if (const std::string whyNot = whyNoEffect(plan, directive); !whyNot.empty())
    return decide("fuse.without_effect", subjectsOf(graph, nodes), causeOf(directive),
                  {{"option", "--no-fuse"}, {"compiler", compiler}, {"why", whyNot}});
  if (const std::vector<std::string> optimisers = optimisersToLeaveOut(plan, directive); !optimisers.empty())
    return decide("fuse.no_fuse_asked", {}, causeOf(directive),
                  {{"rule", directive.rule}, {"compiler", compiler}, {"optimisers", joined(optimisers)}});
  const std::size_t count = directive.pattern.empty() ? graph.nodeCount() : nodes.size();
  return decide("fuse.no_fuse_honoured", subjectsOf(graph, nodes), causeOf(directive),
                {{"rule", directive.rule}, {"nodes", count}});
}

/// Returns the rule that made the kernel of the node.
std::string ruleAt(const Plan& plan, NodeId node) {
  const FusedNode* fused = plan.fusedNodeOf(node);
  return fused == nullptr ? std::string() : fused->rule;
}

std::string pointless(const Plan& plan, NodeId node) {
  if (plan.options.compiler != kOwnCompiler)
    return plan.options.compiler + " fuses by rules of its own, which cannot be forbidden at one node.";
  return ruleAt(plan, node).empty() ? "This node is not fused with others: there is no fusion to forbid." : "";
}

}  // namespace
}  // namespace no_fuse_directive

extern const DirectiveForm kNoFuseForm{.name = "no_fuse",
                                       .option = "--no-fuse",
                                       .argument = "RULE[@NODE]",
                                       .help =
                                           "Forbid a fusion rule, everywhere or at a node. Another compiler is "
                                           "asked to leave out its steps that fuse in this way, if it has any.",
                                       .pattern = PatternUse::Optional,
                                       .inBodies = true,
                                       .nothingToDo = "fuse.nothing_to_keep_apart",
                                       .menu = {.text = "Forbid this fusion",
                                                .tip = "The rule that made this kernel leaves this node alone",
                                                .lastOnly = true,
                                                .pointless = no_fuse_directive::pointless,
                                                .rule = no_fuse_directive::ruleAt},
                                       .parse = parseNoFuse,
                                       .print = no_fuse_directive::print,
                                       .words = no_fuse_directive::words,
                                       .write = no_fuse_directive::write,
                                       .read = no_fuse_directive::read,
                                       .resolve = no_fuse_directive::resolve,
                                       .answer = no_fuse_directive::answer};

}  // namespace fusescope
