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

std::vector<Tactic> Backend::tactics(const KernelRequest&) const {
  return {};
}

Result<std::unique_ptr<const Code>> Backend::compile(const KernelRequest& request, const Tactic& tactic) const {
  return Diagnostic{.message = "the " + std::string(name()) + " backend has no tactic '" + tactic.name + "'",
                    .where = {.node = request.fused->name}};
}

Result<std::unique_ptr<const Code>> Backend::compileConversion(const TensorDesc& from, const TensorDesc& to,
                                                               int threads) const {
  return referenceBackend().compileConversion(from, to, threads);
}

bool Backend::emulatesConversion(const TensorDesc& from, const TensorDesc& to) const {
  return referenceBackend().emulatesConversion(from, to);
}

Result<std::unique_ptr<const Code>> Backend::restore(std::string_view) const {
  return Diagnostic{.message = "the " + std::string(name()) + " backend keeps no code"};
}

const Backend* findBackend(std::string_view name) {
  const auto found = std::ranges::find(allBackends(), name, &Backend::name);
  return found == allBackends().end() ? nullptr : *found;
}

}  // namespace fusescope
