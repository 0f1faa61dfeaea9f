#include "session/operations/operation.h"

#include <fmt/format.h>

#include <algorithm>

namespace fusescope {

bool Operation::has(OptionGroup group) const {
  return std::ranges::find(groups, group) != groups.end();
}

const std::vector<std::string_view>& phasesOfOpening() {
  static const std::vector<std::string_view> phases{"import",  "prepare", "plan", "load engine",
                                                    "kernels", "tactics", "peaks"};
  return phases;
}

std::string phasesInWords(const Operation& operation) {
  if (operation.phases.empty()) return {};
  std::vector<std::string_view> all = phasesOfOpening();
  all.insert(all.end(), operation.phases.begin(), operation.phases.end());
  const std::string_view link = operation.phasesNote.empty() ? "" : "; ";
  return fmt::format("{}{}{}", fmt::join(all, ", "), link, operation.phasesNote);
}

const std::vector<const Operation*>& operations() {
  static const std::vector<const Operation*> all{
#define FUSESCOPE_OPERATION(name) &name##Operation(),
#include "session/operations/operations.inc"
#undef FUSESCOPE_OPERATION
  };
  return all;
}

const Operation* findOperation(std::string_view name) {
  for (const Operation* operation : operations()) {
    if (operation->name == name) return operation;
    for (const Operation& part : operation->parts)
      if (part.name == name) return &part;
  }
  return nullptr;
}

}  // namespace fusescope
