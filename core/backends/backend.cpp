#include "backends/backend.h"

#include <algorithm>
#include <new>

#include "ir/graph.h"

namespace fusescope {

#define BACKEND(name) const Backend& name##Backend();
#include "backends/backends.inc"
#undef BACKEND

std::size_t TensorDesc::bytes() const {
  const auto count = elementCount(format.isPlain() ? dims : format.padded(dims));
  if (!count) throw std::bad_alloc();  // no machine has this much memory
  return byteSize(dtype, *count);
}

std::vector<ValueId> innerValues(const KernelRequest& request) {
  std::vector<ValueId> inner;
  const auto isOutput = [&](ValueId value) {
    return std::ranges::find(request.fused->outputs, value, &FusedOutput::value) != request.fused->outputs.end();
  };
  for (const NodeId id : request.fused->nodes)
    for (const ValueId value : request.plan->graph().node(id).outputs)
      if (request.values.contains(value) && !isOutput(value)) inner.push_back(value);
  return inner;
}

RegionExtents extentsOf(const KernelRequest& request) {
  RegionExtents extents;
  const auto dimsOf = [&](ValueId value) { return request.values.at(value).dims; };
  for (const ValueId input : request.fused->inputs) extents.inputs.push_back(dimsOf(input));
  for (const FusedOutput& output : request.fused->outputs) extents.outputs.push_back(dimsOf(output.value));
  for (const ValueId inner : innerValues(request)) extents.inner.push_back(dimsOf(inner));
  return extents;
}

std::span<const Backend* const> allBackends() {
  static const Backend* const all[] = {
#define BACKEND(name) &name##Backend(),
#include "backends/backends.inc"
#undef BACKEND
  };
  return all;
}

Result<std::unique_ptr<const Code>> Backend::compileConversion(const TensorDesc& from, const TensorDesc& to,
                                                               int threads) const {
  return referenceBackend().compileConversion(from, to, threads);
}

bool Backend::emulatesConversion(const TensorDesc& from, const TensorDesc& to) const {
  return referenceBackend().emulatesConversion(from, to);
}

Result<std::unique_ptr<const Code>> Backend::restore(std::string_view) const {
  return Diagnostic{.message = "the " + std::string(name()) + " backend cannot save code"};
}

const Backend* findBackend(std::string_view name) {
  const auto found = std::ranges::find(allBackends(), name, &Backend::name);
  return found == allBackends().end() ? nullptr : *found;
}

}  // namespace fusescope
