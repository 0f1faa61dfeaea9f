#include "backends/finite_constants.h"

namespace fusescope {
namespace {

/// Most elements of a constant that is searched for numbers that are not finite. Biases and scales have fewer.
constexpr std::int64_t kMostLookedAt = std::int64_t{1} << 16;

}  // namespace

bool mayBeNotFinite(const Tensor& constant) {
  return isFloat(constant.type()) && (constant.count() > kMostLookedAt || notFiniteIn(constant.aligned()) > 0);
}

}  // namespace fusescope
