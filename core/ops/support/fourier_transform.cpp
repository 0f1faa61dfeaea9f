#include "ops/support/fourier_transform.h"

#include <cmath>
#include <cstddef>
#include <numbers>

namespace fusescope::ops {
namespace {

using Complex = std::complex<double>;

/// Returns the transform of the `count` elements from[0], from[step], …; `turns[j]` is exp(∓2πi·j / N) of the whole. An
/// even count is divided into even and odd elements (Cooley and Tukey); an odd one is summed according to the
/// definition.
std::vector<Complex> transformed(const Complex* from, std::size_t count, std::size_t step,
                                 const std::vector<Complex>& turns) {
  std::vector<Complex> result(count);
  if (count % 2 != 0) {
    for (std::size_t k = 0; k < count; ++k)
      for (std::size_t n = 0; n < count; ++n) result[k] += from[n * step] * turns[k * n % count * step];
    return result;
  }
  const std::size_t half = count / 2;
  const std::vector<Complex> even = transformed(from, half, 2 * step, turns);
  const std::vector<Complex> odd = transformed(from + step, half, 2 * step, turns);
  for (std::size_t k = 0; k < half; ++k) {
    const Complex turned = odd[k] * turns[k * step];
    result[k] = even[k] + turned;
    result[k + half] = even[k] - turned;
  }
  return result;
}

}  // namespace

std::vector<Complex> fourier(const std::vector<Complex>& x, bool inverse) {
  if (x.empty()) return {};
  const double angle = (inverse ? 2 : -2) * std::numbers::pi / static_cast<double>(x.size());
  std::vector<Complex> turns;
  for (std::size_t j = 0; j < x.size(); ++j) turns.push_back(std::polar(1.0, angle * static_cast<double>(j)));
  return transformed(x.data(), x.size(), 1, turns);
}

}  // namespace fusescope::ops
