#include "calibration/histogram.h"

#include <algorithm>
#include <cmath>

#include "base/json.h"

namespace fusescope {

namespace {

/// Returns half of `i`, rounded down: the bin of twice the width that contains bin `i`.
std::int64_t halved(std::int64_t i) {
  return i >= 0 ? i / 2 : (i - 1) / 2;
}

}  // namespace

std::int64_t Histogram::binOf(double number) const {
  return static_cast<std::int64_t>(std::floor(number / m_width));
}

void Histogram::widen() {
  m_width *= 2;
  const std::int64_t first = halved(m_first);
  std::vector<std::int64_t> wide(m_bins.empty() ? 0 : halved(m_first + std::ssize(m_bins) - 1) - first + 1);
  for (std::int64_t i = 0; i < std::ssize(m_bins); ++i)
    wide[static_cast<std::size_t>(halved(m_first + i) - first)] += m_bins[static_cast<std::size_t>(i)];
  m_bins = std::move(wide);
  m_first = first;
}

Histogram Histogram::withAtMost(std::int64_t bins) const {
  Histogram wider = *this;
  while (std::ssize(wider.m_bins) > std::max<std::int64_t>(bins, 2)) wider.widen();  // one bin on either side of 0
  return wider;
}

void Histogram::cover(double least, double most) {
  const double largest = std::max(std::abs(least), std::abs(most));
  if (largest == 0) return;
  if (m_width == 0) m_width = std::ldexp(1.0, std::ilogb(largest) - 12);  // narrower than any width that fits
  // This is calculated in doubles, because the distance in bins that are still too narrow may not fit into an integer.
  while (std::floor(most / m_width) - std::floor(least / m_width) + 1 > kMostBins) widen();
  const std::int64_t first = binOf(least), end = binOf(most) + 1;
  if (m_bins.empty()) {
    m_first = first;
    m_bins.assign(static_cast<std::size_t>(end - first), 0);
    return;
  }
  if (first < m_first) {
    m_bins.insert(m_bins.begin(), static_cast<std::size_t>(m_first - first), 0);
    m_first = first;
  }
  if (end > m_first + std::ssize(m_bins)) m_bins.resize(static_cast<std::size_t>(end - m_first), 0);
}

void Histogram::add(std::span<const float> numbers) {
  double least = m_least, most = m_most;
  std::int64_t finite = 0;
  for (const float number : numbers) {
    if (!std::isfinite(number)) continue;
    if (m_count + finite++ == 0) least = most = number;
    least = std::min<double>(least, number);
    most = std::max<double>(most, number);
  }
  m_notFinite += std::ssize(numbers) - finite;
  if (finite == 0) return;
  m_count += finite;
  m_least = least;
  m_most = most;
  // Zero is always included: quantised numbers represent it exactly, and earlier zeros need a bin.
  cover(std::min(least, 0.0), std::max(most, 0.0));
  if (m_width == 0) {
    m_zeros += finite;
    return;
  }
  const auto zero = static_cast<std::size_t>(-m_first);
  m_bins[zero] += m_zeros;
  m_zeros = 0;
  const double perWidth = 1 / m_width;  // exact, because it is a power of two
  for (const float number : numbers)
    if (std::isfinite(number))
      ++m_bins[static_cast<std::size_t>(static_cast<std::int64_t>(std::floor(number * perWidth)) - m_first)];
}

void Histogram::add(const Histogram& other) {
  m_notFinite += other.m_notFinite;
  if (other.m_count == 0) return;
  m_least = m_count == 0 ? other.m_least : std::min(m_least, other.m_least);
  m_most = m_count == 0 ? other.m_most : std::max(m_most, other.m_most);
  m_count += other.m_count;
  m_zeros += other.m_zeros;
  if (other.m_width == 0 && m_width == 0) return;
  Histogram added = other;
  while (m_width != 0 && added.m_width != 0 && added.m_width < m_width) added.widen();
  while (added.m_width != 0 && m_width != 0 && m_width < added.m_width) widen();
  if (m_width == 0) m_width = added.m_width;
  cover(std::min(m_least, 0.0), std::max(m_most, 0.0));
  while (added.m_width != 0 && added.m_width < m_width) added.widen();
  for (std::int64_t i = 0; i < std::ssize(added.m_bins); ++i)
    m_bins[static_cast<std::size_t>(added.m_first + i - m_first)] += added.m_bins[static_cast<std::size_t>(i)];
  m_bins[static_cast<std::size_t>(-m_first)] += m_zeros;
  m_zeros = 0;
}

std::vector<Histogram::Bin> Histogram::filled() const {
  std::vector<Bin> filled;
  if (m_zeros > 0) filled.push_back({0, static_cast<double>(m_zeros)});
  for (std::int64_t i = 0; i < std::ssize(m_bins); ++i) {
    const auto held = m_bins[static_cast<std::size_t>(i)];
    const double middle = (static_cast<double>(m_first + i) + 0.5) * m_width;
    if (held > 0) filled.push_back({std::clamp(middle, m_least, m_most), static_cast<double>(held)});
  }
  return filled;
}

std::vector<double> Histogram::absoluteCounts() const {
  const std::int64_t end = m_first + std::ssize(m_bins);
  std::vector<double> counts(static_cast<std::size_t>(std::max({end, -m_first, std::int64_t{1}})), 0.0);
  counts[0] += static_cast<double>(m_zeros);
  for (std::int64_t i = 0; i < std::ssize(m_bins); ++i) {
    const std::int64_t bin = m_first + i;
    counts[static_cast<std::size_t>(bin >= 0 ? bin : -bin - 1)] +=
        static_cast<double>(m_bins[static_cast<std::size_t>(i)]);
  }
  return counts;
}

Json Histogram::toJson() const {
  Json counts = m_bins;
  if (m_bins.empty()) counts = Json::array({m_zeros});
  return {{"count", m_count}, {"not_finite", m_notFinite}, {"min", m_least},  {"max", m_most},
          {"width", m_width}, {"first_bin", m_first},      {"counts", counts}};
}

Result<Histogram> Histogram::fromJson(const Json& json) {
  const auto bad = [](std::string message) {
    return Diagnostic{.message = std::move(message), .where = {.attribute = "histogram"}};
  };
  Histogram histogram;
  try {
    histogram.m_count = json.at("count").get<std::int64_t>();
    histogram.m_notFinite = json.at("not_finite").get<std::int64_t>();
    histogram.m_least = json.at("min").get<double>();
    histogram.m_most = json.at("max").get<double>();
    histogram.m_width = json.at("width").get<double>();
    histogram.m_first = json.at("first_bin").get<std::int64_t>();
    histogram.m_bins = json.at("counts").get<std::vector<std::int64_t>>();
  } catch (const Json::exception& error) {
    return bad(std::string("lacks a field, or a field has the wrong type: ") + error.what());
  }
  std::int64_t total = 0;
  for (const std::int64_t held : histogram.m_bins) {
    if (held < 0) return bad("has a negative count");
    total += held;
  }
  if (total != histogram.m_count) return bad("has counts whose sum differs from its field count");
  if (histogram.m_width == 0) {
    histogram.m_zeros = total;
    histogram.m_bins.clear();
    return histogram;
  }
  int exponent = 0;
  if (!(histogram.m_width > 0) || std::frexp(histogram.m_width, &exponent) != 0.5)
    return bad("has bins whose width is not a power of two");
  const std::int64_t end = histogram.m_first + std::ssize(histogram.m_bins);
  if (histogram.m_first > 0 || end < 1 || std::ssize(histogram.m_bins) > kMostBins ||
      histogram.binOf(histogram.m_least) < histogram.m_first || histogram.binOf(histogram.m_most) >= end)
    return bad("has bins that do not cover its range and 0");
  return histogram;
}

}  // namespace fusescope
