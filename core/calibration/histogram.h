#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/json_fwd.h"
#include "base/result.h"

namespace fusescope {

/// Counts numbers in bins of equal width. The width is a power of two, and bins begin at its multiples: bin i is
/// [i·width, (i+1)·width). If the range grows, the width is doubled and bins are joined in pairs, so that the result
/// depends only on the numbers, and not on their order or on how they were divided among calls. NaN and infinities are
/// counted separately.
class Histogram {
 public:
  static constexpr std::int64_t kMostBins = 2048;  ///< at least half of them are used as soon as two numbers differ

  void add(std::span<const float> numbers);
  /// Adds all numbers of `other`.
  void add(const Histogram& other);
  /// Returns the same numbers in wider bins; the width is doubled as often as necessary.
  Histogram withAtMost(std::int64_t bins) const;

  std::int64_t count() const { return m_count; }          ///< number of finite numbers
  std::int64_t notFinite() const { return m_notFinite; }  ///< number of NaN and infinities
  double least() const { return m_least; }                ///< the smallest number; 0 if there is none
  double most() const { return m_most; }
  double width() const { return m_width; }           ///< 0 if all numbers are 0
  std::int64_t firstBin() const { return m_first; }  ///< bins() begin at firstBin() · width()
  const std::vector<std::int64_t>& bins() const { return m_bins; }

  /// A bin that is not empty: its middle (limited to least() and most()), which represents its numbers, and their
  /// count.
  struct Bin {
    double number;
    double count;
  };
  std::vector<Bin> filled() const;
  /// Returns the counts of absolute values: bins of the same width from 0 on, including empty ones.
  std::vector<double> absoluteCounts() const;

  /// Returns {count, not_finite, min, max, width, first_bin, counts[]}.
  Json toJson() const;
  /// Reads this form. Errors name the field.
  static Result<Histogram> fromJson(const Json& json);
  bool operator==(const Histogram&) const = default;

 private:
  void cover(double least, double most);  ///< extends the bins to both numbers and widens them if necessary
  void widen();                           ///< doubles the width
  std::int64_t binOf(double number) const;

  std::int64_t m_count = 0, m_notFinite = 0, m_zeros = 0;
  double m_least = 0, m_most = 0, m_width = 0;
  std::int64_t m_first = 0;
  std::vector<std::int64_t> m_bins;  ///< without zeros that were added before any other number
};

}  // namespace fusescope
