#pragma once

#include <cstdint>
#include <span>
#include <utility>

#include "backends/native/kernels/score_term.h"

namespace fusescope::native {

/// A ScoreTerm for a block of scores: pointers to the elements of its operands that belong to the first score of the
/// block, and their strides along rows and keys.
struct ScoreTermRows {
  ScoreTerm::Kind kind;
  const float* by = nullptr;
  std::int64_t byRow = 0, byKey = 0;
  const std::uint8_t* condition = nullptr;
  std::int64_t conditionRow = 0, conditionKey = 0;
};

/// Some keys of some rows of a softmax that is calculated in blocks of keys, one after another.
struct ScoreBlock {
  float* scores = nullptr;  ///< [rows, keys], rows `stride` apart, with space for whole vectors; replaced by e^(score -
                            ///< top)
  std::int64_t stride = 0, rows = 0, keys = 0;
  std::span<const ScoreTermRows> terms;
  bool first = true;        ///< true for the first block: `top` and `total` are not initialised
  float* top = nullptr;     ///< for each row: the largest score so far
  float* total = nullptr;   ///< for each row: the sum of e^(score - top) so far
  float* result = nullptr;  ///< for each row, `resultStride` apart: the result for the previous top, which is rescaled
  std::int64_t resultStride = 0, width = 0;
};
/// Applies the terms and replaces scores by the weights of the softmax before their division by `total`.
void softmaxBlock(const ScoreBlock& block);

/// Divides each row of `result` [rows, width] by its total. A total of 0 gives NaN, because no key can be selected.
void divideRows(float* result, std::int64_t stride, std::int64_t width, const float* total, std::int64_t rows);

/// Which keys of a row are visible: those whose number is greater than `hidden`, or whose truth value is `visible`.
struct KeyMask {
  const float* numbers = nullptr;
  float hidden = 0;
  const std::uint8_t* truths = nullptr;
  bool visible = true;
};
/// Returns the range [begin, end), in steps of `step` keys within [0, keys), that contains all visible keys; begin =
/// end if there are none.
std::pair<std::int64_t, std::int64_t> visibleKeys(const KeyMask& mask, std::int64_t keys, std::int64_t step);

}  // namespace fusescope::native
