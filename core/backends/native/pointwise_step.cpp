#include "backends/native/pointwise_step.h"

#include <omp.h>

#include <algorithm>
#include <cstring>
#include <type_traits>

namespace fusescope::native {
namespace {

constexpr std::int64_t kTile = static_cast<std::int64_t>(kTapeTile);
constexpr std::int64_t kParallelCount = 16 * 1024;

enum class Access { Direct, Single, Walked };

struct Axis {
  std::int64_t extent, stride;
};

/// An operand with its neighbouring axes merged.
struct Operand {
  BufferIndex buffer;
  std::size_t byteOffset;
  DataType type;  ///< in memory
  std::uint16_t reg;
  Access access;
  bool shared = false;  ///< an output whose buffer is also read: written after the tile is done
  std::vector<Axis> axes;
};

Operand prepared(const TapeOperand& from, const Dims& extents) {
  Operand operand{.buffer = from.ref.buffer,
                  .byteOffset = byteSize(from.ref.dtype, from.ref.offset),
                  .type = from.ref.dtype,
                  .reg = from.reg,
                  .access = Access::Walked};
  for (std::size_t i = 0; i < extents.size(); ++i) {
    if (extents[i] == 1) continue;
    const Axis axis{extents[i], from.strides[i]};
    if (!operand.axes.empty() && operand.axes.back().stride == axis.stride * axis.extent) {
      operand.axes.back() = {operand.axes.back().extent * axis.extent, axis.stride};
    } else {
      operand.axes.push_back(axis);
    }
  }
  if (operand.axes.empty()) operand.axes.push_back({1, 0});
  if (operand.axes.size() == 1 && operand.axes[0].stride == 1) operand.access = Access::Direct;
  if (operand.axes.size() == 1 && operand.axes[0].stride == 0) operand.access = Access::Single;
  return operand;
}

template <class T>
float asFloat(T value) {
  return static_cast<float>(value);
}
template <>
float asFloat(TruthByte truth) {
  return truth.value != 0 ? 1.0f : 0.0f;
}

/// Calls `run` with the elements at `bytes` as what they are in memory; int32 as floats of the same bits.
template <class Bytes, class Run>
void withElements(DataType type, Bytes* bytes, const Run& run) {
  const auto as = [&]<class T>() {
    using Element = std::conditional_t<std::is_const_v<Bytes>, const T, T>;
    run(reinterpret_cast<Element*>(bytes));
  };
  switch (type) {
    case DataType::Bool:
      return as.template operator()<TruthByte>();
    case DataType::I8:
      return as.template operator()<std::int8_t>();
    case DataType::U8:
      return as.template operator()<std::uint8_t>();
    default:
      return as.template operator()<float>();
  }
}

/// Whether registers hold it as it is.
bool isWord(DataType type) {
  return type == DataType::F32 || type == DataType::I32;
}

/// Gathers `count` elements from place `begin` of the domain on.
template <class T>
void walk(const T* base, const std::vector<Axis>& axes, std::int64_t begin, std::int64_t count, float* target) {
  const Axis inner = axes.back();
  std::int64_t row = begin / inner.extent;
  std::int64_t column = begin % inner.extent;
  while (count > 0) {
    const T* from = base;
    std::int64_t rest = row;
    for (std::size_t i = axes.size() - 1; i-- > 0;) {
      from += rest % axes[i].extent * axes[i].stride;
      rest /= axes[i].extent;
    }
    const std::int64_t run = std::min(count, inner.extent - column);
    from += column * inner.stride;
    if (inner.stride == 0) {
      std::fill(target, target + run, asFloat(*from));
    } else {
      for (std::int64_t i = 0; i < run; ++i) target[i] = asFloat(from[i * inner.stride]);
    }
    target += run;
    count -= run;
    column = 0;
    ++row;
  }
}

class PointwiseStep final : public Step {
 public:
  PointwiseStep(TapeProgram program, int threads) : m_program(std::move(program)), m_threads(threads) {
    m_count = productOf(m_program.extents, 0);
    for (const TapeOperand& input : m_program.inputs) m_inputs.push_back(prepared(input, m_program.extents));
    for (const TapeOperand& output : m_program.outputs) {
      m_outputs.push_back(prepared(output, m_program.extents));
      m_outputs.back().access = Access::Direct;
      for (const Operand& input : m_inputs) m_outputs.back().shared |= input.buffer == m_outputs.back().buffer;
    }
    if (m_count <= kParallelCount) m_threads = 1;
    m_perThread = (tileBytes() * m_program.registers + sizeof(float*) * m_program.registers + 63) / 64 * 64;
  }

  std::size_t scratchBytes() const override { return m_perThread * static_cast<std::size_t>(m_threads); }

  Status run(Memory memory, std::byte* scratch) const override {
    if (m_count == 0) return Done{};
    if (m_threads == 1) {
      runRange(memory, scratch, 0, m_count);
      return Done{};
    }
#pragma omp parallel num_threads(m_threads)
    {
      const std::int64_t team = omp_get_num_threads();
      const std::int64_t me = omp_get_thread_num();
      const std::int64_t tiles = (m_count + kTile - 1) / kTile;
      const std::int64_t begin = tiles * me / team * kTile;
      const std::int64_t end = std::min(m_count, tiles * (me + 1) / team * kTile);
      runRange(memory, scratch + m_perThread * static_cast<std::size_t>(me), begin, end);
    }
    return Done{};
  }

 private:
  static constexpr std::size_t tileBytes() {
    return kTapeTile * sizeof(float);
  }

  float* tile(std::byte* mine, std::uint16_t reg) const {
    return reinterpret_cast<float*>(mine + tileBytes() * reg);
  }

  void loadTile(const Operand& input, Memory memory, std::int64_t begin, std::int64_t count, float** slot,
                float* own) const {
    const std::byte* base = memory[static_cast<std::size_t>(input.buffer)] + input.byteOffset;
    *slot = own;
    if (isWord(input.type) && input.access == Access::Direct && count == kTile) {
      *slot = const_cast<float*>(reinterpret_cast<const float*>(base)) + begin;
      return;
    }
    withElements(input.type, base, [&](const auto* elements) {
      if (input.access == Access::Walked) return walk(elements, input.axes, begin, count, own);
      if constexpr (std::is_same_v<decltype(elements), const float*>) {
        std::copy(elements + begin, elements + begin + count, own);
      } else {
        toFloats(elements + begin, own, static_cast<std::size_t>(count));
      }
    });
  }

  void runRange(Memory memory, std::byte* mine, std::int64_t rangeBegin, std::int64_t rangeEnd) const {
    float** slots = reinterpret_cast<float**>(mine + tileBytes() * m_program.registers);
    for (std::uint16_t reg = 0; reg < m_program.registers; ++reg) slots[reg] = tile(mine, reg);
    for (const auto& [reg, number] : m_program.numbers) std::fill(slots[reg], slots[reg] + kTile, number);
    for (const Operand& input : m_inputs) {
      if (input.access != Access::Single) continue;
      const std::byte* base = memory[static_cast<std::size_t>(input.buffer)] + input.byteOffset;
      withElements(input.type, base, [&](const auto* element) {
        std::fill(slots[input.reg], slots[input.reg] + kTile, asFloat(*element));
      });
    }
    for (std::int64_t begin = rangeBegin; begin < rangeEnd; begin += kTile) {
      const std::int64_t count = std::min(kTile, rangeEnd - begin);
      for (const Operand& input : m_inputs) {
        if (input.access != Access::Single)
          loadTile(input, memory, begin, count, &slots[input.reg], tile(mine, input.reg));
      }
      for (const Operand& output : m_outputs) {
        const bool direct = isWord(output.type) && !output.shared && count == kTile;
        std::byte* base = memory[static_cast<std::size_t>(output.buffer)] + output.byteOffset;
        slots[output.reg] = direct ? reinterpret_cast<float*>(base) + begin : tile(mine, output.reg);
      }
      runTape(m_program.code, slots, static_cast<std::size_t>(count));
      for (const Operand& output : m_outputs) storeTile(output, memory, begin, count, slots[output.reg]);
    }
  }

  static void storeTile(const Operand& output, Memory memory, std::int64_t begin, std::int64_t count,
                        const float* from) {
    std::byte* base = memory[static_cast<std::size_t>(output.buffer)] + output.byteOffset;
    withElements(output.type, base, [&](auto* elements) {
      if constexpr (std::is_same_v<decltype(elements), float*>) {
        float* to = elements + begin;
        if (to != from) std::memcpy(to, from, static_cast<std::size_t>(count) * sizeof(float));
      } else {
        fromFloats(from, elements + begin, static_cast<std::size_t>(count));
      }
    });
  }

  TapeProgram m_program;
  int m_threads;
  std::int64_t m_count = 1;
  std::vector<Operand> m_inputs, m_outputs;
  std::size_t m_perThread = 0;
};

}  // namespace

std::unique_ptr<Step> makePointwiseStep(TapeProgram program, int threads) {
  return std::make_unique<PointwiseStep>(std::move(program), threads);
}

}  // namespace fusescope::native
