#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "backends/native/region_program.h"

namespace fusescope::native {

/// One product of a GemmStep: c [m, n] = a · packed (+ bias).
struct GemmTarget {
  Ref c;
  std::int64_t n = 0;
  Ref packed;
  std::optional<Ref> bias;
  /// Used instead of `packed`: codes of `bits` bits, which are widened for a part of k at a time.
  struct Codes {
    Ref codes, scales, zeros;
    int bits = 8;
    std::int64_t block = 0;
  };
  std::optional<Codes> codes;
};

/// Multiplies one `a` [m, k], whose rows are contiguous, by several constant weights with our own kernel. `a`, results
/// and packed weights may be narrow floats.
std::unique_ptr<Step> makeGemmStep(Ref a, std::int64_t m, std::int64_t k, std::vector<GemmTarget> targets, int threads);

}  // namespace fusescope::native
