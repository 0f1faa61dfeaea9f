#pragma once

#include <fmt/format.h>

#include "ops/support/infer_support.h"

namespace fusescope::ops {

/// Checks that input `i`, which ONNX calls `what`, is absent or has these extents. Extents that are unknown on either
/// side are not compared.
inline Status requireExtents(const InferContext& context, std::size_t i, std::string_view what,
                             const std::vector<Dim>& extents) {
  if (!context.hasInput(i) || !context.input(i).shape.ranked) return Done{};
  const std::vector<Dim>& dims = context.input(i).shape.dims;
  bool fits = dims.size() == extents.size();
  for (std::size_t k = 0; fits && k < dims.size(); ++k)
    fits = !dims[k].known() || !extents[k].known() || dims[k].size == extents[k].size;
  if (fits) return Done{};
  return problem(fmt::format("input {} ({}) is {}, expected {}", i, what, context.input(i).text(),
                             TensorType{context.input(i).dtype, Shape::of(extents)}.text()));
}

/// Returns extent `axis` of input `i`, or an unknown extent if the input is absent or unranked. The rank must have been
/// checked.
inline Dim extentOf(const InferContext& context, std::size_t i, std::size_t axis) {
  if (!context.hasInput(i) || !context.input(i).shape.ranked) return Dim();
  return context.input(i).shape.dims[axis];
}

}  // namespace fusescope::ops
