#include "planning/directives/directive_resolver.h"
#include "planning/plan.h"

namespace fusescope {

Directive fallbackDirective(std::string pattern) {
  return {.kind = DirectiveKind::Fallback, .pattern = std::move(pattern)};
}

namespace fallback_directive {
namespace {

Result<Directive> parse(std::string_view text) {
  return fallbackDirective(std::string(text));
}

std::string print(const Directive& directive) {
  return directive.pattern;
}

std::string words(const Directive& directive) {
  return "fall back " + directive.pattern;
}

Status resolve(DirectiveResolver& resolver, int index) {
  return resolver.claimEach(resolver.map().fallback, index);
}

std::string pointless(const Plan& plan, NodeId node) {
  const FusedNode* fused = plan.fusedNodeOf(node);
  if (fused == nullptr || !plan.inFallback(*fused)) return {};
  return "This node already runs in a fallback segment.";
}

}  // namespace
}  // namespace fallback_directive

extern const DirectiveForm kFallbackForm{.name = "fallback",
                                         .option = "--fallback",
                                         .argument = "PATTERN",
                                         .help = "Nodes that must not be accelerated.",
                                         .reach = DirectiveReach::Segments,
                                         .nothingToDo = "partition.nothing_to_fall_back",
                                         .menu = {.text = "Force fallback",
                                                  .tip = "Runs outside the accelerated segments",
                                                  .pointless = fallback_directive::pointless},
                                         .parse = fallback_directive::parse,
                                         .print = fallback_directive::print,
                                         .words = fallback_directive::words,
                                         .resolve = fallback_directive::resolve};

}  // namespace fusescope
