#include "backends/native/lowering/reduced_axes.h"

namespace fusescope::native {

std::optional<std::vector<bool>> reducedAxes(const RegionFacts& region, const Node& reduce, std::size_t rank) {
  std::vector<bool> reduced(rank, false);
  if (reduce.op.starts_with("Global")) {
    for (std::size_t i = 2; i < rank; ++i) reduced[i] = true;
    return reduced;
  }
  std::vector<std::int64_t> axes = reduce.intsAttribute("axes");
  if (reduce.input(1).valid()) {
    const Tensor* tensor = region.constant(reduce.input(1));
    if (tensor == nullptr) return std::nullopt;
    axes = int64Values(*tensor);
  }
  if (axes.empty() && reduce.intAttribute("noop_with_empty_axes", 0) != 0) return std::nullopt;
  if (axes.empty()) reduced.assign(rank, true);
  for (const std::int64_t axis : axes) reduced[positiveAxis(axis, rank)] = true;
  return reduced;
}

}  // namespace fusescope::native
