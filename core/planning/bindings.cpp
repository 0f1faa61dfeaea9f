#include "planning/bindings.h"

#include <algorithm>

namespace fusescope {

const Binding* findBinding(const Bindings& bindings, std::string_view role) {
  const auto found = std::ranges::find(bindings, role, &Binding::role);
  return found == bindings.end() ? nullptr : &*found;
}

std::vector<Binding> bindingsOf(const Bindings& bindings, std::string_view role) {
  std::vector<Binding> found;
  std::ranges::copy_if(bindings, std::back_inserter(found), [&](const Binding& b) { return b.role == role; });
  return found;
}

}  // namespace fusescope
