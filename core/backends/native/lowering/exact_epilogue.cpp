#include "backends/native/lowering/exact_epilogue.h"

#include <algorithm>
#include <cmath>

#include "backends/native/kernels/float_rows.h"
#include "base/aligned_memory.h"

namespace fusescope::native {
namespace {

constexpr std::int64_t kChunk = 4096;  ///< elements of the target that are checked at a time

/// Returns `count` elements at `offset` of a buffer, regardless of their order.
Ref flat(BufferIndex buffer, std::int64_t offset, DataType type, std::int64_t count) {
  return {.buffer = buffer, .offset = offset, .dtype = type, .dims = {count}, .strides = {1}};
}

class ExactEpilogue final : public Step {
 public:
  ExactEpilogue(std::unique_ptr<Step> product, std::unique_ptr<Step> tape, Ref target, std::int64_t count)
      : m_product(std::move(product)), m_tape(std::move(tape)), m_target(std::move(target)), m_count(count) {}

  std::size_t scratchBytes() const override {
    return 2 * tensorBytes() + std::max(m_product->scratchBytes(), m_tape->scratchBytes());
  }

  Status run(Memory memory, std::byte* scratch) const override {
    std::vector<std::byte*> buffers(memory.begin(), memory.end());
    buffers.push_back(scratch);                  // the result of the product
    buffers.push_back(scratch + tensorBytes());  // the result of the tape
    std::byte* rest = scratch + 2 * tensorBytes();
    TRY(m_product->run(buffers, rest));
    TRY(m_tape->run(buffers, rest));
    putBack(memory, reinterpret_cast<const float*>(buffers.back()));
    return Done{};
  }

 private:
  std::size_t tensorBytes() const { return wholeLines(static_cast<std::size_t>(m_count) * sizeof(float)); }

  void putBack(Memory memory, const float* exact) const {
    std::vector<float> own(static_cast<std::size_t>(std::min(m_count, kChunk)));
    for (std::int64_t at = 0; at < m_count; at += kChunk) {
      const std::int64_t count = std::min(kChunk, m_count - at);
      readFloats(m_target, memory, at, count, own.data());
      // The target's elements, or a widened copy of them.
      float* elements = placeFloats(m_target, memory, at, own.data());
      bool changes = false;
      for (std::int64_t i = 0; i < count; ++i) {
        if (std::isfinite(exact[at + i]) && !std::isnan(elements[i])) continue;
        elements[i] = exact[at + i];
        changes = true;
      }
      if (changes) storeFloats(m_target, memory, at, count, elements);
    }
  }

  std::unique_ptr<Step> m_product, m_tape;
  Ref m_target;
  std::int64_t m_count;
};

}  // namespace

MakeExactStep exactEpilogue(EpilogueCall call) {
  return [call = std::move(call)](BufferIndex free) -> Result<std::unique_ptr<Step>> {
    std::unique_ptr<Step> product = TRY(call.product(free));
    TapeProgram program = call.tape.program;
    program.extents = {call.count};
    program.inputs.push_back({flat(free, 0, DataType::F32, call.count), {1}, call.tape.product});
    for (const auto& [value, reg] : call.tape.addends) {
      const Ref& addend = call.addends.at(value);
      program.inputs.push_back({flat(addend.buffer, addend.offset, addend.dtype, call.count), {1}, reg});
    }
    program.outputs.push_back({flat(free + 1, 0, DataType::F32, call.count), {1}, call.tape.result});
    const Ref target = flat(call.target.buffer, call.target.offset, call.target.dtype, call.count);
    return std::unique_ptr<Step>(std::make_unique<ExactEpilogue>(
        std::move(product), makePointwiseStep(std::move(program), call.threads), target, call.count));
  };
}

}  // namespace fusescope::native
