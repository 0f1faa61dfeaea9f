#include <algorithm>

#include "target/node_request.h"
#include "target/restriction_list.h"

namespace fusescope {

namespace {

Holds evenExtents(const NodeRequest& request) {
  const TensorType* x = request.input(0);
  if (x == nullptr || !x->shape.ranked) return Holds::Unknown;
  const auto& dims = x->shape.dims;
  if (!std::ranges::all_of(dims, &Dim::known)) return Holds::Unknown;
  return std::ranges::all_of(dims, [](const Dim& dim) { return dim.size % 2 == 0; }) ? Holds::Yes : Holds::No;
}

}  // namespace

extern const NamedRestriction kEvenExtents{"evenExtents", "all extents are even", evenExtents};

}  // namespace fusescope
