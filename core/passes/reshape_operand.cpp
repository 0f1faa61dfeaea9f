#include "passes/reshape_operand.h"

#include <utility>

namespace fusescope {

std::optional<Dims> reshapeOperand(const Shape& from, const Shape& to) {
  Dims entries;
  bool left = false;
  for (std::size_t i = 0; i < to.rank(); ++i) {
    const Dim& dim = to.dims[i];
    if (dim.size == 0) return std::nullopt;  // a 0 would mean that the extent is kept
    const bool stays = !dim.known() && i < from.rank() && dim == from.dims[i];
    if (!dim.known() && !stays && std::exchange(left, true)) return std::nullopt;
    entries.push_back(dim.known() ? dim.size : stays ? 0 : -1);
  }
  return entries;
}

}  // namespace fusescope
