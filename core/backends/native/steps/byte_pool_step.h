#pragma once

#include <memory>

#include "backends/native/node_window.h"
#include "backends/native/region_program.h"

namespace fusescope::native {

/// Positions along one axis: `count` of them, `step` elements apart.
struct PoolPlaces {
  std::int64_t count = 0, step = 0;
};

/// The windows of one row of results, along the last spatial axis.
struct PoolRow {
  std::int64_t extent = 0, channels = 0, results = 0, stride = 1, dilation = 1, kernel = 1, padding = 0;
};

/// Computes the largest code of each window. `from` and `to` have four axes, one 8-bit type and channels last; every
/// window contains at least one element of `from`.
struct BytePoolCall {
  Ref from, to;
  Window window;
};
std::unique_ptr<Step> makeBytePoolStep(BytePoolCall call, int threads);

}  // namespace fusescope::native
