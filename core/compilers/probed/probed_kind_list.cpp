// Lists all compilers behind probes. Each has a folder and a line in probed_kinds.inc.
#include <algorithm>

#include "compilers/probed/probed_kind.h"

namespace fusescope {

#define PROBED_KIND(name) const ProbedKind& name##Kind();
#include "compilers/probed/probed_kinds.inc"
#undef PROBED_KIND

std::span<const ProbedKind* const> allProbedKinds() {
  static const std::vector<const ProbedKind*> all = {
#define PROBED_KIND(name) &name##Kind(),
#include "compilers/probed/probed_kinds.inc"
#undef PROBED_KIND
  };
  return all;
}

const ProbedKind* findProbedKind(std::string_view name) {
  const auto found = std::ranges::find(allProbedKinds(), name, &ProbedKind::name);
  return found == allProbedKinds().end() ? nullptr : *found;
}

}  // namespace fusescope
