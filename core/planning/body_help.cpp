#include "planning/body_help.h"

#include "planning/directives/directive_form.h"

namespace fusescope {

std::vector<WhatIf> wouldHelpInBody(const Plan& body, NodeId node, const BodyPath& path) {
  std::vector<WhatIf> all = wouldHelp(body, node);
  for (WhatIf& help : all) {
    if (help.directive.pattern.empty()) continue;  // it is about the whole plan, or an edit of the network
    const std::string inside = optionText(help.directive);
    help.directive.pattern = path.of(help.directive.pattern);
    const auto at = help.change.find(inside);
    if (at != std::string::npos) help.change.replace(at, inside.size(), optionText(help.directive));
  }
  return all;
}

}  // namespace fusescope
