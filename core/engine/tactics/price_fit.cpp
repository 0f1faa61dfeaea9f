#include "engine/tactics/price_fit.h"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <utility>
#include <vector>

namespace fusescope {
namespace {

constexpr std::size_t kLeastAmounts = 6;
constexpr double kReach = 4;  // how far beyond the smallest and largest measured amounts the fit is used
constexpr double kSingular = 1e-12;

constexpr std::size_t kTerms = 3;  // fixed, per work, per traffic
using Terms = std::array<double, kTerms>;

/// The sums that least squares needs for rows `terms · x = 1`. Samples can be removed again.
struct NormalSums {
  std::array<Terms, kTerms> products{};
  Terms rights{};
  double ones = 0;

  void add(const Terms& terms, double times = 1) {
    for (std::size_t i = 0; i < kTerms; ++i) {
      for (std::size_t j = 0; j < kTerms; ++j) products[i][j] += times * terms[i] * terms[j];
      rights[i] += times * terms[i];
    }
    ones += times;
  }
  double residual(const Terms& x) const {
    double sum = ones;
    for (std::size_t i = 0; i < kTerms; ++i) {
      sum -= 2 * x[i] * rights[i];
      for (std::size_t j = 0; j < kTerms; ++j) sum += x[i] * products[i][j] * x[j];
    }
    return sum;
  }
};

/// Returns the least-squares solution with only the terms of `subset` (bits); null if these do not determine one.
std::optional<Terms> solve(const NormalSums& sums, unsigned subset) {
  std::vector<std::size_t> terms;
  for (std::size_t i = 0; i < kTerms; ++i)
    if ((subset >> i & 1U) != 0) terms.push_back(i);
  auto matrix = sums.products;
  Terms rights = sums.rights;
  for (std::size_t step = 0; step < terms.size(); ++step) {
    const std::size_t pivot = terms[step];
    if (matrix[pivot][pivot] <= kSingular * sums.products[pivot][pivot] || matrix[pivot][pivot] <= 0) return {};
    for (const std::size_t row : terms) {
      if (row == pivot) continue;
      const double factor = matrix[row][pivot] / matrix[pivot][pivot];
      for (const std::size_t column : terms) matrix[row][column] -= factor * matrix[pivot][column];
      rights[row] -= factor * rights[pivot];
    }
  }
  Terms x{};
  for (const std::size_t term : terms) x[term] = rights[term] / matrix[term][term];
  return x;
}

/// Returns the best solution without negative terms. Such a solution is the unconstrained solution for the terms that
/// are not zero in it, so that it is found by trying every set of terms.
Terms solveNonNegative(const NormalSums& sums) {
  Terms best{};
  double least = sums.residual(best);
  for (unsigned subset = 1; subset < 1U << kTerms; ++subset) {
    const auto x = solve(sums, subset);
    if (!x || std::ranges::any_of(*x, [](double term) { return term < 0; })) continue;
    const double residual = sums.residual(*x);
    if (residual >= least) continue;
    least = residual;
    best = *x;
  }
  return best;
}

/// Returns a row with amounts that are scaled to at most 1. Both sides are divided by the time, so that residuals are
/// relative.
Terms rowOf(const WorkSample& sample, const Terms& scale) {
  const double ms = sample.measured.ms;
  return {scale[0] / ms, scale[1] * sample.work / ms, scale[2] * sample.traffic / ms};
}

/// Returns the mean error of fits that leave out the samples of one pair of amounts, measured on these samples.
double leaveOneOutError(const std::map<std::pair<double, double>, std::vector<Terms>>& byAmounts,
                        const NormalSums& all) {
  double error = 0;
  std::size_t count = 0;
  for (const auto& [amounts, rows] : byAmounts) {
    NormalSums others = all;
    for (const Terms& row : rows) others.add(row, -1);
    const Terms x = solveNonNegative(others);
    for (const Terms& row : rows) {
      const double ratio = x[0] * row[0] + x[1] * row[1] + x[2] * row[2];  // predicted time over measured time
      if (ratio <= 0) return std::numeric_limits<double>::infinity();
      error += std::max(ratio, 1 / ratio) - 1;  // a tenth of the time is as wrong as ten times it
      ++count;
    }
  }
  return error / static_cast<double>(count);
}

}  // namespace

std::optional<double> PriceFit::at(double work, double traffic) const {
  const auto within = [](double amount, double least, double most) {
    return amount * kReach >= least && amount <= most * kReach;
  };
  if (!within(work, leastWork, mostWork) || !within(traffic, leastTraffic, mostTraffic)) return std::nullopt;
  return fixed + perWork * work + perTraffic * traffic;
}

std::optional<PriceFit> fitPrices(std::span<const WorkSample> samples) {
  std::vector<WorkSample> confident;
  for (const WorkSample& sample : samples)
    if (sample.measured.ms > 0 && sample.measured.spread <= kConfidentSpread) confident.push_back(sample);
  if (confident.size() < kLeastAmounts) return std::nullopt;
  const auto [leastWork, mostWork] = std::ranges::minmax(confident, {}, &WorkSample::work);
  const auto [leastTraffic, mostTraffic] = std::ranges::minmax(confident, {}, &WorkSample::traffic);
  const auto inverse = [](double most) { return most > 0 ? 1 / most : 1.0; };
  const Terms scale{1, inverse(mostWork.work), inverse(mostTraffic.traffic)};

  NormalSums sums;
  std::map<std::pair<double, double>, std::vector<Terms>> byAmounts;
  for (const WorkSample& sample : confident) {
    const Terms row = rowOf(sample, scale);
    sums.add(row);
    byAmounts[{sample.work, sample.traffic}].push_back(row);
  }
  if (byAmounts.size() < kLeastAmounts) return std::nullopt;
  const double error = leaveOneOutError(byAmounts, sums);
  if (error > kMostFitError) return std::nullopt;
  const Terms x = solveNonNegative(sums);
  return PriceFit{.fixed = x[0],
                  .perWork = x[1] * scale[1],
                  .perTraffic = x[2] * scale[2],
                  .error = error,
                  .samples = confident.size(),
                  .leastWork = leastWork.work,
                  .mostWork = mostWork.work,
                  .leastTraffic = leastTraffic.traffic,
                  .mostTraffic = mostTraffic.traffic};
}

}  // namespace fusescope
