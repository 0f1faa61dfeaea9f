#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>

#include "backends/native/tape_program.h"

namespace fusescope::native {

/// A result for each of the 256 codes of 8 bits, indexed by the bits of the code.
using CodeTable = std::array<std::uint8_t, 256>;

/// For each of `rows`, calculates to[i] = table[from[i]] for `count` elements; both may be the same memory. Strides are
/// the bytes from row to row.
struct CodeRows {
  const std::uint8_t* from = nullptr;
  std::int64_t fromStride = 0;
  std::uint8_t* to = nullptr;
  std::int64_t toStride = 0;
  std::int64_t rows = 1, count = 0;
};
void translate(const CodeTable& table, const CodeRows& rows);
/// The same with up to `threads` threads, if that is faster.
void translate(const CodeTable& table, const CodeRows& rows, int threads);

/// Returns the table for a tape that makes each code from the code at the same position and reads nothing else; nothing
/// for other tapes.
std::optional<CodeTable> codeTableOf(const TapeProgram& program);

/// `from` and `to` are codes in the same layout, without gaps.
std::unique_ptr<Step> makeCodeTableStep(const CodeTable& table, Ref from, Ref to, int threads);

}  // namespace fusescope::native
