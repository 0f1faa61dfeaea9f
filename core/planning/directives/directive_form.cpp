#include "planning/directives/directive_form.h"

#include <algorithm>

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

Diagnostic badArgument(std::string_view option, std::string_view text, std::string problem, std::string help) {
  return {.message = "'" + std::string(text) + "': " + std::move(problem),
          .where = {.attribute = std::string(option)},
          .help = std::move(help)};
}

}  // namespace fusescope
