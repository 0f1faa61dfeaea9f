#pragma once

#include <cstdint>
#include <span>

#include "backends/native/attention_step.h"

namespace fusescope::native {

/// A ScoreTerm for a block of scores: where its operands have what belongs to the block's first score, and how far
/// apart they are along its rows and keys.
struct ScoreTermRows {
  ScoreTerm::Kind kind;
  const float* by = nullptr;
  std::int64_t byRow = 0, byKey = 0;
  const std::uint8_t* condition = nullptr;
  std::int64_t conditionRow = 0, conditionKey = 0;
};

/// Some keys of some rows of a softmax whose keys come in blocks, one after another.
struct ScoreBlock {
  float* scores = nullptr;  ///< [rows, keys], rows `stride` apart: room for whole vectors; become e^(score - top)
  std::int64_t stride = 0, rows = 0, keys = 0;
  std::span<const ScoreTermRows> terms;
  bool first = true;        ///< no block came before: `top` and `total` hold nothing yet
  float* top = nullptr;     ///< per row: the largest score so far
  float* total = nullptr;   ///< per row: the sum of e^(score - top) so far
  float* result = nullptr;  ///< per row, `resultStride` apart: what belongs to the former top and is to be scaled
  std::int64_t resultStride = 0, width = 0;
};
/// Applies the terms and turns scores into what the softmax weighs the values by, but for the division by `total`.
void softmaxBlock(const ScoreBlock& block);

/// Divides each row of `result` [rows, width] by its total. A total of 0 gives NaN, as no key can be chosen.
void divideRows(float* result, std::int64_t stride, std::int64_t width, const float* total, std::int64_t rows);

/// Which keys of a row may be seen: those whose number is above `hidden`, or whose truth is `visible`.
struct KeyMask {
  const float* numbers = nullptr;
  float hidden = 0;
  const std::uint8_t* truths = nullptr;
  bool visible = true;
};
/// The first and last stretch of `step` keys of [0, keys) that hold a visible one, as [begin, end); begin = end: none.
std::pair<std::int64_t, std::int64_t> visibleKeys(const KeyMask& mask, std::int64_t keys, std::int64_t step);

}  // namespace fusescope::native
