#include "backends/native/kernels/code_table.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "backends/native/kernels/parallel.h"

// These instructions look up bytes in a table of 128. Without them, translating one byte at a time is as fast as
// combining lookups in tables of 16.
#define HWY_WANT_AVX3_DL
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/native/kernels/code_table.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace fusescope::native::HWY_NAMESPACE {

#if HWY_TARGET <= HWY_AVX3_DL

void translateHere(const CodeTable& table, const CodeRows& all) {
  const __m512i a = _mm512_loadu_si512(table.data()), b = _mm512_loadu_si512(table.data() + 64);
  const __m512i c = _mm512_loadu_si512(table.data() + 128), d = _mm512_loadu_si512(table.data() + 192);
  const auto lookedUp = [=](__m512i codes) HWY_ATTR {
    return _mm512_mask_blend_epi8(_mm512_movepi8_mask(codes), _mm512_permutex2var_epi8(a, codes, b),
                                  _mm512_permutex2var_epi8(c, codes, d));
  };
  for (std::int64_t row = 0; row < all.rows; ++row) {
    const std::uint8_t* from = all.from + row * all.fromStride;
    std::uint8_t* to = all.to + row * all.toStride;
    std::int64_t i = 0;
    for (; i + 64 <= all.count; i += 64) _mm512_storeu_si512(to + i, lookedUp(_mm512_loadu_si512(from + i)));
    if (i == all.count) continue;
    const __mmask64 rest = (std::uint64_t{1} << (all.count - i)) - 1;
    _mm512_mask_storeu_epi8(to + i, rest, lookedUp(_mm512_maskz_loadu_epi8(rest, from + i)));
  }
}

#else

void translateHere(const CodeTable& table, const CodeRows& all) {
  for (std::int64_t row = 0; row < all.rows; ++row) {
    const std::uint8_t* from = all.from + row * all.fromStride;
    std::uint8_t* to = all.to + row * all.toStride;
    for (std::int64_t i = 0; i < all.count; ++i) to[i] = table[from[i]];
  }
}

#endif

}  // namespace fusescope::native::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fusescope::native {

HWY_EXPORT(translateHere);

namespace {

constexpr std::int64_t kParallelBytes = 128 * 1024;  ///< with fewer bytes, one thread is faster

/// These convert between the codes 0 … 255, in the order of their bits, and floats.
void allCodes(DataType type, float* registers) {
  CodeTable codes{};
  for (std::size_t i = 0; i < codes.size(); ++i) codes[i] = static_cast<std::uint8_t>(i);
  type == DataType::U8 ? toFloats(codes.data(), registers, codes.size())
                       : toFloats(reinterpret_cast<const std::int8_t*>(codes.data()), registers, codes.size());
}

CodeTable codesOf(DataType type, const float* registers) {
  CodeTable codes{};
  type == DataType::U8 ? fromFloats(registers, codes.data(), codes.size())
                       : fromFloats(registers, reinterpret_cast<std::int8_t*>(codes.data()), codes.size());
  return codes;
}

class CodeTableStep final : public Step {
 public:
  CodeTableStep(const CodeTable& table, Ref from, Ref to, int threads)
      : m_table(table), m_from(std::move(from)), m_to(std::move(to)), m_threads(threads) {}

  std::unique_ptr<const Step> forExtents(const NewExtents& extents) const override {
    const auto from = extents.at(m_from), to = extents.at(m_to);
    if (!from || !to || !from->format.isPlain() || from->dims != to->dims) return nullptr;
    return makeCodeTableStep(m_table, *from, *to, m_threads);
  }

  Status run(Memory memory, std::byte*) const override {
    translate(m_table,
              {.from = elementsAt<std::uint8_t>(m_from, memory),
               .to = elementsAt<std::uint8_t>(m_to, memory),
               .count = m_to.count()},
              m_threads);
    return Done{};
  }

 private:
  CodeTable m_table;
  Ref m_from, m_to;
  int m_threads;
};

}  // namespace

void translate(const CodeTable& table, const CodeRows& rows) {
  HWY_DYNAMIC_DISPATCH(translateHere)(table, rows);
}

void translate(const CodeTable& table, const CodeRows& rows, int threads) {
  if (threads == 1 || rows.rows * rows.count <= kParallelBytes) return translate(table, rows);
  const bool byRows = rows.rows >= threads;
  const std::int64_t whole = byRows ? rows.rows : rows.count;
  forEach(threads, threads, [&](std::int64_t i) {
    const std::int64_t begin = whole * i / threads, some = whole * (i + 1) / threads - begin;
    CodeRows part = rows;
    part.from += begin * (byRows ? rows.fromStride : 1);
    part.to += begin * (byRows ? rows.toStride : 1);
    (byRows ? part.rows : part.count) = some;
    translate(table, part);
  });
}

std::optional<CodeTable> codeTableOf(const TapeProgram& program) {
  if (program.inputs.size() != 1 || program.outputs.size() != 1) return std::nullopt;
  const TapeOperand &input = program.inputs[0], &output = program.outputs[0];
  if (!isByteInteger(input.ref.dtype) || !isByteInteger(output.ref.dtype)) return std::nullopt;
  for (std::size_t i = 0; i < program.extents.size(); ++i)
    if (program.extents[i] != 1 && input.strides[i] != output.strides[i]) return std::nullopt;
  constexpr std::size_t kCodes = std::tuple_size_v<CodeTable>;
  std::vector<float> numbers(kCodes * program.registers);
  std::vector<float*> registers;
  for (std::size_t i = 0; i < program.registers; ++i) registers.push_back(numbers.data() + i * kCodes);
  for (const auto& [reg, number] : program.numbers) fill(registers[reg], kCodes, number);
  allCodes(input.ref.dtype, registers[input.reg]);
  runTape(program.code, registers.data(), kCodes);
  return codesOf(output.ref.dtype, registers[output.reg]);
}

std::unique_ptr<Step> makeCodeTableStep(const CodeTable& table, Ref from, Ref to, int threads) {
  return std::make_unique<CodeTableStep>(table, std::move(from), std::move(to), threads);
}

}  // namespace fusescope::native
#endif
