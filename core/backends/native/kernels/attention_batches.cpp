#include "backends/native/kernels/attention_batches.h"

#include <algorithm>
#include <functional>
#include <numeric>

namespace fusescope::native {
namespace {

bool sameMatrix(const SmallDims& a, const SmallDims& b) {
  return a.size() >= 2 && b.size() >= 2 && std::equal(a.end() - 2, a.end(), b.end() - 2);
}

std::int64_t countOf(const SmallDims& dims) {
  return std::accumulate(dims.begin(), dims.end(), std::int64_t{1}, std::multiplies<>());
}

}  // namespace

SmallDims batchesOf(const SmallDims& dims) {
  return SmallDims(std::span(dims).first(dims.size() - 2));
}

SmallDims withMatrix(SmallDims batches, const SmallDims& matrix) {
  batches.append(matrix.end() - 2, 2);
  return batches;
}

std::optional<SmallDims> commonAxes(const SmallDims& a, const SmallDims& b) {
  SmallDims axes;  // collected from the innermost axis outwards
  std::size_t i = a.size(), k = b.size();
  std::int64_t left = 1, right = 1;  // what is left of an axis that has been split only in part
  while (true) {
    while (left == 1 && i > 0) left = a[--i];
    while (right == 1 && k > 0) right = b[--k];
    if (left == 1 && right == 1) break;
    const std::int64_t axis = std::min(left, right);
    if (axis <= 1 || left % axis != 0 || right % axis != 0) return std::nullopt;
    axes.push_back(axis);
    left /= axis;
    right /= axis;
  }
  std::ranges::reverse(axes);
  return axes;
}

std::optional<AttentionBatches> batchesFor(const SmallDims& scores, std::span<const SmallDims> terms,
                                           const SmallDims& result) {
  if (scores.size() < 2 || result.size() < 2) return std::nullopt;
  const auto isEmpty = [](const SmallDims& dims) { return std::ranges::any_of(dims, [](auto n) { return n <= 0; }); };
  if (isEmpty(scores) || isEmpty(result)) return std::nullopt;
  AttentionBatches batches{.scores = batchesOf(scores), .result = batchesOf(result)};
  batches.repeats = countOf(batches.scores) != countOf(batches.result);
  const auto own = commonAxes(batches.result, batches.of(batches.scores));
  if (!own) return std::nullopt;
  batches.all = *own;
  for (const SmallDims& term : terms) {
    if (!sameMatrix(term, scores) || (batches.repeats && batchesOf(term) != batches.scores)) return std::nullopt;
    const auto common = commonAxes(batches.all, batches.of(batchesOf(term)));
    if (!common) return std::nullopt;
    batches.all = *common;
  }
  return batches;
}

}  // namespace fusescope::native
