#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace fusescope {

/// Counts of numbers in bins of equal width, a power of two, at multiples of it: bin i holds [i·width, (i+1)·width).
/// A range that grows doubles the width and joins bins in pairs, so that what comes out depends on the numbers alone,
/// neither on their order nor on how they were divided among calls. NaN and infinities are counted apart.
class Histogram {
 public:
  static constexpr std::int64_t kMostBins = 2048;  ///< at least half of them are used once two numbers differ

  void add(std::span<const float> numbers);
  /// All that `other` holds.
  void add(const Histogram& other);
  /// The same numbers in wider bins, as many times twice as wide as it takes.
  Histogram withAtMost(std::int64_t bins) const;

  std::int64_t count() const { return m_count; }          ///< of finite numbers
  std::int64_t notFinite() const { return m_notFinite; }  ///< NaN and infinities
  double least() const { return m_least; }                ///< 0 while empty
  double most() const { return m_most; }
  double width() const { return m_width; }           ///< 0 where all numbers are 0
  std::int64_t firstBin() const { return m_first; }  ///< bins() begin at firstBin() · width()
  const std::vector<std::int64_t>& bins() const { return m_bins; }

  /// The bins that hold something: the number that stands for each, its middle (kept between least() and most()), and
  /// how many there are.
  struct Bin {
    double number;
    double count;
  };
  std::vector<Bin> filled() const;
  /// The same of absolute values: bins from 0 on, of the same width, none left out.
  std::vector<double> absoluteCounts() const;

  /// {count, not_finite, min, max, width, first_bin, counts[]}
  Json toJson() const;
  /// Errors say which field.
  static Result<Histogram> fromJson(const Json& json);
  bool operator==(const Histogram&) const = default;

 private:
  void cover(double least, double most);  ///< room for both, whatever the width must be
  void widen();                           ///< to twice the width
  std::int64_t binOf(double number) const;

  std::int64_t m_count = 0, m_notFinite = 0, m_zeros = 0;
  double m_least = 0, m_most = 0, m_width = 0;
  std::int64_t m_first = 0;
  std::vector<std::int64_t> m_bins;  ///< without the zeros that came before any other number
};

}  // namespace fusescope
