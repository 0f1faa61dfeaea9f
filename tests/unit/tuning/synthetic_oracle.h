#pragma once

#include <cmath>
#include <functional>

#include "tuning/tune_search.h"

namespace fusescope::test {

/// A network that is only two functions: error and milliseconds of the set of pins. Counts what it is asked.
class SyntheticOracle final : public TuneOracle {
 public:
  using Number = std::function<double(const PinSet&)>;
  /// `groupSizes`: nodes are dealt out to groups in order; groups beside each other are neighbours.
  SyntheticOracle(const std::vector<std::uint32_t>& groupSizes, Number error, Number ms)
      : m_error(std::move(error)), m_ms(std::move(ms)) {
    for (const std::uint32_t size : groupSizes) {
      PinSet group;
      for (std::uint32_t i = 0; i < size; ++i) group.insert(m_nodes++);
      m_groups.push_back(std::move(group));
    }
    for (std::uint32_t i = 0; i < m_groups.size(); ++i) {
      m_neighbours.emplace_back();
      if (i > 0) m_neighbours.back().push_back(i - 1);
      if (i + 1 < m_groups.size()) m_neighbours.back().push_back(i + 1);
    }
  }

  std::uint32_t nodeCount() const override { return m_nodes; }
  const std::vector<PinSet>& groups() const override { return m_groups; }
  const std::vector<std::vector<std::uint32_t>>& neighbours() const override { return m_neighbours; }
  Result<PinnedPlan> plan(const PinSet& pins) override {
    KeyBuilder key;
    for (const std::uint32_t pin : effective(pins)) key.number(pin);
    return PinnedPlan{key.hash(), {.ms = m_ms(pins), .how = PriceSource::Measured}};
  }
  Result<double> error(const PinSet& pins) override {
    if (asked == stopAfter) return Diagnostic::cancellation();
    ++asked;
    return m_error(effective(pins));
  }
  bool hasReference() const override { return reference != nullptr; }
  Result<double> errorOnReference(const PinSet& pins) override {
    ++askedReference;
    return reference(effective(pins));
  }

  PinSet withoutEffect;  ///< nodes that a pin changes nothing for
  Number reference;      ///< null: there is none
  std::int64_t asked = 0, askedReference = 0, stopAfter = -1;

 private:
  PinSet effective(PinSet pins) const {
    std::erase_if(pins, [&](std::uint32_t pin) { return withoutEffect.contains(pin); });
    return pins;
  }

  Number m_error, m_ms;
  std::uint32_t m_nodes = 0;
  std::vector<PinSet> m_groups;
  std::vector<std::vector<std::uint32_t>> m_neighbours;
};

/// Each pin takes one millisecond; two side by side share a conversion.
inline double msOfPins(const PinSet& pins) {
  double ms = 10;
  for (const std::uint32_t pin : pins) ms += pins.contains(pin + 1) ? 0.8 : 1;
  return ms;
}

/// The square root of what the squares of nodes come to that are not pinned.
inline SyntheticOracle::Number rootOfSquares(std::vector<double> ofNodes) {
  return [ofNodes = std::move(ofNodes)](const PinSet& pins) {
    double sum = 0;
    for (std::uint32_t i = 0; i < ofNodes.size(); ++i) sum += pins.contains(i) ? 0 : ofNodes[i] * ofNodes[i];
    return std::sqrt(sum);
  };
}

}  // namespace fusescope::test
