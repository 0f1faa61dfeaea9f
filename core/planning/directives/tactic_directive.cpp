#include "base/json.h"
#include "ir/graph.h"
#include "planning/directives/directive_fields.h"
#include "planning/directives/directive_resolver.h"

namespace fusescope {

namespace tactic_directive {
namespace {

std::string words(const Directive& directive) {
  return "tactic " + directive.rule + " for " + directive.pattern;
}

void write(const Directive& directive, Json& json) {
  json["tactic"] = directive.rule;
}

Status read(const DirectiveFields& fields, Directive& into) {
  into.rule = TRY(fields.text("tactic"));
  return Done{};
}

/// The build uses the tactic; the plan only records that it was asked for.
Status resolve(DirectiveResolver& resolver, int index) {
  const PatternMatch found = TRY(resolver.match(index));
  if (found.nodes.empty()) return Done{};  // it was answered already
  std::vector<Subject> subjects;
  for (const NodeId id : found.nodes) subjects.push_back(Subject::node(resolver.graph().node(id).name));
  const Directive& directive = resolver.at(index);
  resolver.map().explanations.add(
      decide("tactic.requested", std::move(subjects), causeOf(directive), {{"tactic", directive.rule}}));
  return Done{};
}

}  // namespace
}  // namespace tactic_directive

extern const DirectiveForm kTacticForm{.name = "tactic",
                                       .reach = DirectiveReach::Tactics,
                                       .nothingToDo = "tactic.nothing_to_run",
                                       .words = tactic_directive::words,
                                       .write = tactic_directive::write,
                                       .read = tactic_directive::read,
                                       .resolve = tactic_directive::resolve};

}  // namespace fusescope
