#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>

namespace fusescope {

/// A SplitMix64 generator. It gives the same sequence on every machine and with every standard library.
class RandomNumbers {
 public:
  explicit RandomNumbers(std::uint64_t seed) : m_state(seed) {}
  std::uint64_t next() {
    std::uint64_t z = (m_state += 0x9e3779b97f4a7c15ULL);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
  }
  /// Returns a number that is uniformly distributed in (0, 1).
  double uniform() { return (static_cast<double>(next() >> 11) + 0.5) * 0x1.0p-53; }
  double normal() { return std::sqrt(-2.0 * std::log(uniform())) * std::cos(2.0 * std::numbers::pi * uniform()); }

 private:
  std::uint64_t m_state;
};

}  // namespace fusescope
