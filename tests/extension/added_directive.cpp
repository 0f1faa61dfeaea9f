#include "ir/graph.h"
#include "planning/directives/directive_resolver.h"
#include "planning/plan.h"

namespace fusescope {

namespace {

Result<Directive> parse(std::string_view text) {
  return Directive{.kind = *directiveKindFromName("alone"), .pattern = std::string(text)};
}

std::string print(const Directive& directive) {
  return directive.pattern;
}

std::string words(const Directive& directive) {
  return "run " + directive.pattern + " alone";
}

/// Splits behind the node and behind whatever makes what it reads.
Status resolve(DirectiveResolver& resolver, int index) {
  DirectiveMap& map = resolver.map();
  for (const NodeId id : TRY(resolver.match(index)).nodes) {
    TRY(resolver.claim(map.split[id.index], index, id));
    for (const ValueId value : resolver.graph().node(id).inputs) {
      const NodeId producer = value.valid() ? resolver.graph().value(value).producer : NodeId();
      if (producer.valid()) TRY(resolver.claim(map.split[producer.index], index, id));
    }
  }
  return Done{};
}

Decision answer(const Directive& directive, std::span<const NodeId> nodes, const Plan& plan) {
  return decide("fuse.split_honoured", subjectsOf(plan.graph(), nodes), causeOf(directive));
}

}  // namespace

extern const DirectiveForm kAloneForm{.name = "alone",
                                      .option = "--alone",
                                      .argument = "NODE",
                                      .help = "nothing runs in one kernel with this node",
                                      .nothingToDo = "fuse.nothing_to_keep_apart",
                                      .parse = parse,
                                      .print = print,
                                      .words = words,
                                      .resolve = resolve,
                                      .answer = answer};

}  // namespace fusescope
