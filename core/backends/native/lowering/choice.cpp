#include "backends/native/lowering/choice.h"

namespace fusescope::native {

std::string text(const Choice& choice) {
  if (choice.isReference()) return choice.implementation + ":reference";
  const std::string kind(choice.kind.name);
  return choice.by == Choice::By::OneDnn ? kind + ":" + choice.implementation : kind;
}

}  // namespace fusescope::native
