#include "planning/directives/directive_form.h"

// The list of kinds, and nothing else: a program with another list takes this file's place.

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
