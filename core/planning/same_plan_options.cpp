#include "planning/same_plan_options.h"

namespace fusescope {

Directive withoutWords(Directive directive) {
  directive.id.clear();
  directive.note.clear();
  return directive;
}

bool askForSamePlan(const PlanOptions& a, const PlanOptions& b) {
  const auto plain = [](PlanOptions options) {
    for (Directive& directive : options.directives) directive = withoutWords(std::move(directive));
    return options;
  };
  return plain(a) == plain(b);
}

}  // namespace fusescope
