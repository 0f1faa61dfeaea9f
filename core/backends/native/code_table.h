#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>

#include "backends/native/pointwise_step.h"

namespace fusescope::native {

/// What becomes of each of the 256 codes of 8 bits, by its bits.
using CodeTable = std::array<std::uint8_t, 256>;

/// `count` elements of each of `rows`: to[i] = table[from[i]]; in place where both are the same memory. Strides are
/// from row to row, in bytes.
struct CodeRows {
  const std::uint8_t* from = nullptr;
  std::int64_t fromStride = 0;
  std::uint8_t* to = nullptr;
  std::int64_t toStride = 0;
  std::int64_t rows = 1, count = 0;
};
void translate(const CodeTable& table, const CodeRows& rows);
/// The same, shared among `threads` where that is quicker.
void translate(const CodeTable& table, const CodeRows& rows, int threads);

/// The table of a tape that makes codes of codes, each of the one at its place and of nothing else that is read.
std::optional<CodeTable> codeTableOf(const TapeProgram& program);

/// `from` and `to` are codes that lie alike, without gaps.
std::unique_ptr<Step> makeCodeTableStep(const CodeTable& table, Ref from, Ref to, int threads);

}  // namespace fusescope::native
