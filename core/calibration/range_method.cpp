#include "calibration/range_method.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <vector>

namespace fusescope {

namespace {

constexpr std::array kNames{std::pair{RangeMethod::MinMax, std::string_view("minmax")},
                            std::pair{RangeMethod::Percentile, std::string_view("percentile")},
                            std::pair{RangeMethod::Entropy, std::string_view("entropy")},
                            std::pair{RangeMethod::Mse, std::string_view("mse")}};

ValueRange whole(const Histogram& histogram) {
  return {std::min(histogram.least(), 0.0), std::max(histogram.most(), 0.0)};
}

ValueRange symmetrical(double largest) {
  return {-largest, largest};
}

/// Returns the number below which `share` of all numbers are, with the precision of a bin.
double quantile(std::span<const Histogram::Bin> bins, double count, double share) {
  double below = 0;
  for (const Histogram::Bin& bin : bins)
    if ((below += bin.count) >= share * count) return bin.number;
  return bins.back().number;
}

ValueRange byPercentile(const Histogram& histogram, const RangeChoice& choice) {
  const double share = choice.percentile / 100, count = static_cast<double>(histogram.count());
  std::vector<Histogram::Bin> bins = histogram.filled();
  if (choice.symmetric) {
    for (Histogram::Bin& bin : bins) bin.number = std::abs(bin.number);
    std::ranges::sort(bins, {}, &Histogram::Bin::number);
    return symmetrical(share >= 1 ? whole(histogram).largest() : quantile(bins, count, share));
  }
  if (share >= 1) return whole(histogram);
  return {std::min(0.0, quantile(bins, count, (1 - share) / 2)), std::max(0.0, quantile(bins, count, (1 + share) / 2))};
}

/// The number of codes for absolute values, from 0 to 127.
constexpr std::size_t kSteps = 128;

/// Returns the Kullback-Leibler divergence of `counts`, with everything beyond `kept` bins clamped into the last of
/// these, from the result of dividing those bins evenly into kSteps, where each bin that was not empty gets the mean of
/// its step.
double divergence(std::span<const double> counts, std::size_t kept) {
  double clamped = 0, total = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    total += counts[i];
    if (i >= kept) clamped += counts[i];
  }
  std::vector<double> coarse(kept, 0.0);
  double coarseTotal = 0;
  for (std::size_t step = 0; step < kSteps; ++step) {
    const std::size_t begin = step * kept / kSteps, end = (step + 1) * kept / kSteps;
    double sum = 0, filled = 0;
    for (std::size_t i = begin; i < end; ++i) {
      sum += counts[i];
      if (counts[i] > 0 || (i + 1 == kept && clamped > 0)) ++filled;
    }
    for (std::size_t i = begin; i < end; ++i)
      if (counts[i] > 0 || (i + 1 == kept && clamped > 0)) coarse[i] = sum / filled;
    coarseTotal += sum;
  }
  if (coarseTotal == 0) return INFINITY;
  // A bin that got only clamped numbers counts as at least one number, so that the divergence stays finite.
  constexpr double kLeastCount = 1e-4;
  double divergence = 0;
  for (std::size_t i = 0; i < kept; ++i) {
    const double real = (counts[i] + (i + 1 == kept ? clamped : 0)) / total;
    if (real > 0) divergence += real * std::log(real / (std::max(coarse[i], kLeastCount) / coarseTotal));
  }
  return divergence;
}

ValueRange byEntropy(const Histogram& histogram, const RangeChoice& choice) {
  std::vector<double> counts = histogram.absoluteCounts();
  // 0 is exact in codes of any range, so that the zeros of a ReLU must not outweigh everything else.
  if (counts.size() > 1) counts[0] = std::min(counts[0], counts[1]);
  std::size_t best = counts.size();
  double least = INFINITY;
  for (std::size_t kept = kSteps; kept <= counts.size(); ++kept) {
    const double lost = divergence(counts, kept);
    if (lost >= least) continue;
    least = lost;
    best = kept;
  }
  const ValueRange all = whole(histogram);
  const double bound = best >= counts.size() ? all.largest() : static_cast<double>(best) * histogram.width();
  if (choice.symmetric) return symmetrical(std::min(bound, all.largest()));
  return {std::max(all.low, -bound), std::min(all.high, bound)};
}

double errorOf(std::span<const Histogram::Bin> bins, const ValueRange& range, bool symmetric) {
  const double scale = symmetric ? range.largest() / 127 : (range.high - range.low) / 255;
  if (scale == 0) return INFINITY;
  const double zero = symmetric ? 0 : std::clamp(std::nearbyint(-range.low / scale), 0.0, 255.0);
  const double least = symmetric ? -127 : 0, most = symmetric ? 127 : 255;
  double error = 0, count = 0;
  for (const auto& [number, held] : bins) {
    const double code = std::clamp(std::nearbyint(number / scale) + zero, least, most);
    const double off = (code - zero) * scale - number;
    error += held * off * off;
    count += held;
  }
  return count == 0 ? 0 : error / count;
}

/// The number of fractions of the whole range that are tried, from all of it to a twentieth.
constexpr int kTries = 96;
constexpr double shareOf(int attempt) {
  return 1.0 - 0.01 * attempt;
}

ValueRange byError(const Histogram& histogram, const RangeChoice& choice) {
  const std::vector<Histogram::Bin> bins = histogram.filled();
  const ValueRange all = whole(histogram);
  ValueRange best = choice.symmetric ? symmetrical(all.largest()) : all;
  double least = errorOf(bins, best, choice.symmetric);
  const auto consider = [&](const ValueRange& range) {
    const double error = errorOf(bins, range, choice.symmetric);
    if (error >= least) return;
    least = error;
    best = range;
  };
  if (choice.symmetric) {
    for (int i = 1; i < kTries; ++i) consider(symmetrical(all.largest() * shareOf(i)));
    return best;
  }
  // Each end is optimised in turn, twice, because the best value of one depends little on the other.
  for (int round = 0; round < 2; ++round) {
    const ValueRange before = best;
    for (int i = 0; i < kTries; ++i) consider({before.low, all.high * shareOf(i)});
    const ValueRange between = best;
    for (int i = 0; i < kTries && all.low < 0; ++i) consider({all.low * shareOf(i), between.high});
  }
  return best;
}

}  // namespace

std::string_view name(RangeMethod method) {
  return std::ranges::find(kNames, method, &decltype(kNames)::value_type::first)->second;
}

std::optional<RangeMethod> rangeMethodFromName(std::string_view name) {
  const auto found = std::ranges::find(kNames, name, &decltype(kNames)::value_type::second);
  return found == kNames.end() ? std::nullopt : std::optional(found->first);
}

ValueRange rangeOf(const Histogram& histogram, const RangeChoice& choice) {
  const ValueRange all = whole(histogram);
  if (all.largest() == 0) return {};
  switch (choice.method) {
    case RangeMethod::MinMax:
      break;
    case RangeMethod::Percentile:
      return byPercentile(histogram, choice);
    case RangeMethod::Entropy:
      return byEntropy(histogram, choice);
    case RangeMethod::Mse:
      return byError(histogram, choice);
  }
  return choice.symmetric ? symmetrical(all.largest()) : all;
}

double quantizationError(const Histogram& histogram, const ValueRange& range, bool symmetric) {
  return errorOf(histogram.filled(), range, symmetric);
}

}  // namespace fusescope
