#pragma once

#include <complex>
#include <vector>

namespace fusescope::ops {

/// Computes y[k] = Σ x[n] · exp(∓2πi·k·n / N), where N is the number of elements. The sign is plus for the inverse,
/// which is not divided by N.
std::vector<std::complex<double>> fourier(const std::vector<std::complex<double>>& x, bool inverse);

}  // namespace fusescope::ops
