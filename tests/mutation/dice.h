#pragma once

#include <cstdint>
#include <random>
#include <vector>

namespace fusescope::mutation {

/// Random numbers that are the same on every machine for the same seed.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : m_engine(seed) {}
  std::uint64_t bits() { return m_engine(); }
  /// 0 … count-1; 0 if count is 0.
  std::size_t below(std::size_t count) { return count == 0 ? 0 : static_cast<std::size_t>(m_engine() % count); }
  bool oneIn(std::size_t count) { return below(count) == 0; }
  template <class T>
  const T& of(const std::vector<T>& choices) {
    return choices[below(choices.size())];
  }

 private:
  std::mt19937_64 m_engine;
};

}  // namespace fusescope::mutation
