#include "backends/backend.h"

#include <algorithm>

namespace fusescope {

#define BACKEND(name) const Backend& name##Backend();
#include "backends/backends.inc"
#undef BACKEND

std::size_t TensorDesc::bytes() const {
  std::int64_t count = 1;
  for (const std::int64_t extent : format.padded(dims)) count *= extent;
  return byteSize(dtype, count);
}

std::span<const Backend* const> allBackends() {
  static const Backend* const all[] = {
#define BACKEND(name) &name##Backend(),
#include "backends/backends.inc"
#undef BACKEND
  };
  return all;
}

const Backend* findBackend(std::string_view name) {
  const auto found = std::ranges::find(allBackends(), name, &Backend::name);
  return found == allBackends().end() ? nullptr : *found;
}

}  // namespace fusescope
