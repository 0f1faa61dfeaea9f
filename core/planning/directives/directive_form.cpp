#include "planning/directives/directive_form.h"

#include <algorithm>

#include "base/shell_quoted.h"
#include "ir/graph.h"

namespace fusescope {

const DirectiveForm& formOf(DirectiveKind kind) {
  return *directiveForms()[static_cast<std::size_t>(kind)];
}

const DirectiveForm& formOf(const Directive& directive) {
  return formOf(directive.kind);
}

DirectiveKind kindOf(const DirectiveForm& form) {
  const auto& forms = directiveForms();
  return static_cast<DirectiveKind>(std::ranges::find(forms, &form) - forms.begin());
}

std::optional<DirectiveKind> directiveKindFromName(std::string_view name) {
  for (const DirectiveForm* form : directiveForms())
    if (form->name == name) return kindOf(*form);
  return std::nullopt;
}

std::vector<Subject> subjectsOf(const Graph& graph, std::span<const NodeId> nodes) {
  std::vector<Subject> subjects;
  subjects.reserve(nodes.size());
  for (const NodeId node : nodes) subjects.push_back(Subject::node(graph.node(node).name));
  return subjects;
}

Cause causeOf(const Directive& directive) {
  return Cause::directive(formOf(directive).name, directive.id);
}

std::string optionText(const Directive& directive) {
  const DirectiveForm& form = formOf(directive);
  if (form.option.empty()) return form.words(directive);
  return std::string(form.option) + " " + shellQuoted(form.print(directive));
}

std::string inWords(const Directive& directive) {
  return formOf(directive).words(directive);
}

bool asksForAType(const Directive& directive) {
  return formOf(directive).asks != RequestedType::Nothing;
}

Diagnostic badArgument(std::string_view option, std::string_view text, std::string problem, std::string help) {
  return {.message = "'" + std::string(text) + "': " + std::move(problem),
          .where = {.attribute = std::string(option)},
          .help = std::move(help)};
}

}  // namespace fusescope
