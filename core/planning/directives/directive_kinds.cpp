#include "planning/directives/directive_form.h"

// This file contains only the list of kinds, so that a program with another list can replace it.

namespace fusescope {

#define DIRECTIVE_KIND(NAME) extern const DirectiveForm k##NAME##Form;
#include "planning/directives/kinds.inc"
#undef DIRECTIVE_KIND

const std::vector<const DirectiveForm*>& directiveForms() {
  static const std::vector<const DirectiveForm*> kForms{
#define DIRECTIVE_KIND(NAME) &k##NAME##Form,
#include "planning/directives/kinds.inc"
#undef DIRECTIVE_KIND
  };
  return kForms;
}

}  // namespace fusescope
