#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "ops/support/resampling.h"

namespace fusescope::native {

/// The taps of an axis, ordered by output position: those of position k are [ends[k - 1], ends[k]). Weights of 0 are
/// omitted.
struct TapList {
  explicit TapList(const std::vector<ops::Taps>& taps);

  std::vector<std::int64_t> places;
  std::vector<float> weights;
  std::vector<std::size_t> ends;
};

/// Calculates to [inner] = the weighted sum of rows of from [.., inner].
void weightedRows(const float* from, std::int64_t inner, const std::int64_t* places, const float* weights,
                  std::size_t taps, float* to);

/// Resamples lines of `in` elements along themselves, one vector of output positions at a time.
class LineResampling {
 public:
  LineResampling(const TapList& taps, std::int64_t in);
  void run(const float* from, float* to) const;

  /// Used for vectors of positions whose taps are all in one vector of the input, which begins at `bases`; `indices`
  /// are then relative to it. Otherwise `indices` are positions in the line. `indices` and `weights` are
  /// [vector][tap][lane]; missing taps have weight 0.
  struct Plan {
    std::int64_t in = 0, out = 0, taps = 0;
    bool inOneVector = false;
    std::vector<std::int32_t> bases, indices;
    std::vector<float> weights;
  };

 private:
  Plan m_plan;
};

}  // namespace fusescope::native
