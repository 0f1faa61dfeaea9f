#include "backends/native/steps/pointwise_step.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "backends/native/kernels/code_table.h"
#include "backends/native/kernels/narrow_floats.h"
#include "backends/native/kernels/parallel.h"
#include "base/aligned_memory.h"
#include "base/float_bits.h"
#include "base/small_vector.h"

namespace fusescope::native {
namespace {

constexpr std::int64_t kTileElements = static_cast<std::int64_t>(kTapeTile);
// The least number of tiles that a thread claims at once, since registers are filled again for each claim.
constexpr std::int64_t kLeastTiles = 4;

enum class Access { Direct, Single, Walked };

/// A common multiple of the numbers of lanes of vectors.
constexpr std::int64_t kVector = 16;

struct Axis {
  std::int64_t extent, stride;
};
using Axes = SmallVector<Axis, 6>;

/// An operand whose neighbouring axes were merged.
struct Operand {
  BufferIndex buffer;
  std::size_t byteOffset;
  DataType type;  ///< in memory
  std::uint16_t reg;
  Access access;
  bool shared = false;  ///< an output whose buffer is also read; it is written when the tile is complete
  Axes axes;
  /// If this is not 0, every `repeated` consecutive elements of a walked operand are one row that repeats.
  std::int64_t repeated = 0;

  std::int64_t row() const { return axes.back().extent; }
  bool isPerRow() const { return axes.back().stride == 0; }  ///< one element for each row
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
  const std::size_t axes = operand.axes.size();
  if (operand.isPerRow()) operand.repeated = operand.row();
  if (axes > 1 && operand.axes[axes - 2].stride == 0) operand.repeated = operand.axes[axes - 2].extent * operand.row();
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

template <>
float asFloat(Half value) {
  return fromFloat16Bits(value.bits);
}
template <>
float asFloat(Brain value) {
  return fromBFloat16Bits(value.bits);
}

/// Calls `run` with the elements at `bytes` in the type that they have in memory. int32 are passed as floats of the
/// same bits.
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
    case DataType::F16:
      return as.template operator()<Half>();
    case DataType::BF16:
      return as.template operator()<Brain>();
    default:
      return as.template operator()<float>();
  }
}

/// Returns whether a register contains the elements exactly as memory does.
bool isWord(DataType type) {
  return type == DataType::F32 || type == DataType::I32;
}

/// Returns the address at which row `row` of the domain begins.
template <class T>
const T* rowAt(const T* base, const Axes& axes, std::int64_t row) {
  for (std::size_t i = axes.size() - 1; i-- > 0;) {
    base += row % axes[i].extent * axes[i].stride;
    row /= axes[i].extent;
  }
  return base;
}

template <class T>
void gather(const T* from, std::int64_t stride, std::int64_t count, float* target) {
  if (stride == 0) return fill(target, static_cast<std::size_t>(count), asFloat(*from));
  if constexpr (std::is_same_v<T, float>) {
    if (stride == 1) {
      std::memcpy(target, from, static_cast<std::size_t>(count) * sizeof(float));
      return;
    }
  }
  if constexpr (!std::is_same_v<T, float>) {
    if (stride == 1) return toFloats(from, target, static_cast<std::size_t>(count));
  }
  for (std::int64_t i = 0; i < count; ++i) target[i] = asFloat(from[i * stride]);
}

/// Gathers `count` elements, beginning at place `begin` of the domain.
template <class T>
void walk(const T* base, const Operand& operand, std::int64_t begin, std::int64_t count, float* target) {
  const std::int64_t extent = operand.row(), stride = operand.axes.back().stride;
  std::int64_t row = begin / extent, column = begin % extent;
  if (operand.repeated > extent && column == 0 && begin % operand.repeated + count <= operand.repeated) {
    std::int64_t done = std::min(count, extent);  // the row is read once, and is then copied from `target` itself
    gather(rowAt(base, operand.axes, row), stride, done, target);
    while (done < count) {
      const std::int64_t more = std::min(done, count - done);
      std::memcpy(target + done, target, static_cast<std::size_t>(more) * sizeof(float));
      done += more;
    }
    return;
  }
  while (count > 0) {
    const std::int64_t run = std::min(count, extent - column);
    gather(rowAt(base, operand.axes, row) + column * stride, stride, run, target);
    target += run;
    count -= run;
    column = 0;
    ++row;
  }
}

/// The contents of an operand's register: `count` elements of the stretch and phase `key`.
struct HeldInput {
  std::int64_t key = -1, count = 0;
};

/// Describes how the domain is cut into tiles: first into stretches of `extent` elements, and each stretch into
/// `pieces` of at most `tile` elements. If possible, the rows that an operand repeats begin with a tile, so that what
/// was gathered once can be used for many tiles.
struct Cut {
  std::int64_t extent = kTileElements, pieces = 1, tile = kTileElements;

  explicit Cut(const std::vector<Operand>& inputs) {
    const Operand* leading = nullptr;
    for (const Operand& input : inputs) {
      if (input.access == Access::Walked && (leading == nullptr || input.repeated > leading->repeated))
        leading = &input;
    }
    if (leading == nullptr) return;
    const std::int64_t block = std::max(leading->repeated, leading->row());
    if (block == 0) return;  // the tensor is empty
    if (block <= kTileElements) {
      tile = extent = kTileElements / block * block;
      return;
    }
    extent = block;
    pieces = (block + kTileElements - 1) / kTileElements;
    const std::int64_t unit = leading->isPerRow() || leading->row() > kTileElements ? kVector : leading->row();
    tile = std::min(kTileElements, ((block + pieces - 1) / pieces + unit - 1) / unit * unit);
    if (unit > kVector) tile = kTileElements / unit * unit;
    pieces = (block + tile - 1) / tile;
  }

  std::int64_t tiles(std::int64_t count) const { return (count + extent - 1) / extent * pieces; }
  std::int64_t begin(std::int64_t index) const { return index / pieces * extent + index % pieces * tile; }
  std::int64_t end(std::int64_t index, std::int64_t count) const {
    return std::min({begin(index) + tile, (index / pieces + 1) * extent, count});
  }
};

class PointwiseStep final : public Step {
 public:
  PointwiseStep(TapeProgram program, int threads)
      : m_program(std::move(program)),
        m_maxThreads(threads),
        m_threads(threads),
        m_count(productOf(m_program.extents, 0)),
        m_inputs(preparedAll(m_program.inputs, m_program.extents)),
        m_outputs(preparedAll(m_program.outputs, m_program.extents)),
        m_cut(m_inputs) {
    for (Operand& output : m_outputs) {
      output.access = Access::Direct;
      for (const Operand& input : m_inputs) output.shared |= input.buffer == output.buffer;
    }
    if (m_count <= kFewElements) m_threads = 1;
    const std::size_t perRegister = tileBytes() + sizeof(float*);
    m_perThread = wholeLines(perRegister * m_program.registers + sizeof(HeldInput) * m_inputs.size());
  }

  std::size_t scratchBytes() const override { return m_perThread * static_cast<std::size_t>(m_threads); }

  /// The outputs determine the domain. Returns null if what is read cannot be broadcast to it any more.
  std::unique_ptr<const Step> forExtents(const NewExtents& extents) const override {
    TapeProgram program{.extents = {},
                        .inputs = {},
                        .outputs = {},
                        .numbers = m_program.numbers,
                        .code = m_program.code,
                        .registers = m_program.registers};
    program.outputs.reserve(m_program.outputs.size());
    for (const TapeOperand& output : m_program.outputs) {
      auto ref = output.ref.dims == m_program.extents ? extents.at(output.ref) : std::nullopt;
      if (!ref) return nullptr;
      if (program.outputs.empty()) program.extents = ref->dims;
      if (ref->dims != program.extents) return nullptr;
      Dims strides = rowMajorStrides(ref->dims);
      program.outputs.push_back({std::move(*ref), std::move(strides), output.reg});
    }
    program.inputs.reserve(m_program.inputs.size());
    for (const TapeOperand& input : m_program.inputs) {
      auto ref = input.ref.format.isPlain() ? extents.at(input.ref) : std::nullopt;
      if (!ref || !broadcasts(ref->dims, program.extents)) return nullptr;
      Dims strides = broadcastStrides(*ref, program.extents);
      program.inputs.push_back({std::move(*ref), std::move(strides), input.reg});
    }
    return makePointwiseStep(std::move(program), m_maxThreads);
  }

  Status run(Memory memory, std::byte* scratch) const override {
    if (m_count == 0) return Done{};
    const std::int64_t tiles = m_cut.tiles(m_count);
    forEachPiece(Claims(tiles, m_threads, kLeastTiles), m_threads, [&](std::int64_t begin, std::int64_t end, int me) {
      runTiles(memory, scratch + m_perThread * static_cast<std::size_t>(me), begin, end);
    });
    return Done{};
  }

 private:
  static std::vector<Operand> preparedAll(const std::vector<TapeOperand>& operands, const Dims& extents) {
    std::vector<Operand> all;
    all.reserve(operands.size());
    for (const TapeOperand& operand : operands) all.push_back(prepared(operand, extents));
    return all;
  }

  static constexpr std::size_t tileBytes() { return kTapeTile * sizeof(float); }

  float* tile(std::byte* mine, std::uint16_t reg) const { return reinterpret_cast<float*>(mine + tileBytes() * reg); }

  /// Points `slot` to the elements [begin, begin + count): to the operand itself, or to `own`, into which they are
  /// gathered unless `held` says that they are already there.
  static void loadTile(const Operand& input, Memory memory, std::int64_t begin, std::int64_t count, float*& slot,
                       float* own, HeldInput& held) {
    const std::byte* base = memory[static_cast<std::size_t>(input.buffer)] + input.byteOffset;
    const bool walked = input.access == Access::Walked;
    if (isWord(input.type) && !input.isPerRow() && input.axes.back().stride == 1 &&
        begin % input.row() + count <= input.row()) {
      const float* elements = reinterpret_cast<const float*>(base);
      slot = const_cast<float*>(walked ? rowAt(elements, input.axes, begin / input.row()) + begin % input.row()
                                       : elements + begin);
      return;
    }
    slot = own;
    std::int64_t key = -1;
    if (walked && input.repeated > 0 && begin % input.repeated + count <= input.repeated) {
      const std::int64_t phase = input.isPerRow() ? 0 : begin % input.row();
      key = begin / input.repeated * input.row() + phase;
      if (key == held.key && count <= held.count) return;
    }
    withElements(input.type, base, [&](const auto* elements) {
      if (walked) return walk(elements, input, begin, count, own);
      if constexpr (!std::is_same_v<decltype(elements), const float*>)
        toFloats(elements + begin, own, static_cast<std::size_t>(count));
    });
    held = {key, count};
  }

  void runTiles(Memory memory, std::byte* mine, std::int64_t firstTile, std::int64_t lastTile) const {
    float** slots = reinterpret_cast<float**>(mine + tileBytes() * m_program.registers);
    HeldInput* held = reinterpret_cast<HeldInput*>(slots + m_program.registers);
    for (std::uint16_t reg = 0; reg < m_program.registers; ++reg) slots[reg] = tile(mine, reg);
    for (const auto& [reg, number] : m_program.numbers) fill(slots[reg], kTapeTile, number);
    for (std::size_t i = 0; i < m_inputs.size(); ++i) {
      held[i] = {};
      if (m_inputs[i].access != Access::Single) continue;
      const std::byte* base = memory[static_cast<std::size_t>(m_inputs[i].buffer)] + m_inputs[i].byteOffset;
      withElements(m_inputs[i].type, base,
                   [&](const auto* element) { fill(slots[m_inputs[i].reg], kTapeTile, asFloat(*element)); });
    }
    for (std::int64_t index = firstTile; index < lastTile; ++index) {
      const std::int64_t begin = m_cut.begin(index), count = m_cut.end(index, m_count) - begin;
      if (count <= 0) continue;
      for (std::size_t i = 0; i < m_inputs.size(); ++i) {
        const Operand& input = m_inputs[i];
        if (input.access != Access::Single)
          loadTile(input, memory, begin, count, slots[input.reg], tile(mine, input.reg), held[i]);
      }
      for (const Operand& output : m_outputs) {
        const bool direct = isWord(output.type) && !output.shared;
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
  int m_maxThreads, m_threads;  ///< the number of threads that may be used, and the number that is used
  std::int64_t m_count;
  std::vector<Operand> m_inputs, m_outputs;
  Cut m_cut;
  std::size_t m_perThread = 0;
};

}  // namespace

std::unique_ptr<Step> makePointwiseStep(TapeProgram program, int threads) {
  if (const auto table = codeTableOf(program))
    return makeCodeTableStep(*table, program.inputs[0].ref, program.outputs[0].ref, threads);
  return std::make_unique<PointwiseStep>(std::move(program), threads);
}

}  // namespace fusescope::native
