#pragma once

#include <memory>

#include "backends/native/node_window.h"
#include "backends/native/region_program.h"

namespace fusescope::native {

/// A pool over windows that each begin inside the padded input. `from` and `to` have the same layout, [outer, spatial…,
/// inner]; `inner` are adjacent channels. They are f32 or narrow floats, which are widened row by row.
struct PoolCall {
  Ref from, to;
  std::int64_t outer = 1, inner = 1;
  Dims in, out;  ///< spatial extents
  Window window;
  bool average = false;  ///< true: mean; false: largest element
  bool countsPadding = false;
};

std::unique_ptr<Step> makePoolStep(PoolCall call, int threads);

}  // namespace fusescope::native
