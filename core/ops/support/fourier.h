#pragma once

#include <complex>
#include <vector>

namespace fusescope::ops {

/// y[k] = Σ x[n] · exp(∓2πi·k·n / N) with N the number of elements: minus, or plus for the inverse, which is not
/// divided by N here.
std::vector<std::complex<double>> fourier(const std::vector<std::complex<double>>& x, bool inverse);

}  // namespace fusescope::ops
