#include "planning/truncate_modes.h"

namespace fusescope {

TruncateModes truncateModesOf(const Directives& directives) {
  TruncateModes modes;
  for (const Directive& directive : directives) {
    const bool both = directive.kind == DirectiveKind::Truncate;
    if (both || directive.kind == DirectiveKind::TruncateInputs) modes.inputs = directive.truncate;
    if (both || directive.kind == DirectiveKind::TruncateConstants) modes.constants = directive.truncate;
  }
  return modes;
}

}  // namespace fusescope
