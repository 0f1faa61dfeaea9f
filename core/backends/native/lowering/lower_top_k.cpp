#include <algorithm>
#include <numeric>

#include "backends/native/kernels/float_rows.h"
#include "backends/native/kernels/parallel.h"
#include "backends/native/lowering/emitter.h"
#include "ops/support/infer_support.h"

namespace fusescope::native {
namespace {

constexpr KernelKind kTopKKernel{.name = "top_k"};

/// The operands, which are plain; the axis is the middle one of [outer, extent, inner].
struct TopK {
  Ref from, values, indices;
  std::int64_t outer = 1, extent = 1, inner = 1, k = 0;
  bool largest = true, wantsIndices = true, wantsValues = true;
};

class TopKStep final : public Step {
 public:
  TopKStep(TopK at, int threads) : m_at(std::move(at)), m_threads(threads) {}

  Status run(Memory memory, std::byte*) const override {
    std::int64_t* indices = m_at.wantsIndices ? elementsAt<std::int64_t>(m_at.indices, memory) : nullptr;
    const std::int64_t lines = m_at.outer * m_at.inner;
    forEachPiece(Claims(lines, m_threads), lines > 1 ? m_threads : 1, [&](std::int64_t begin, std::int64_t end, int) {
      std::vector<std::int64_t> order(static_cast<std::size_t>(m_at.extent));
      std::vector<float> numbers(order.size());
      for (std::int64_t line = begin; line < end; ++line) {
        const std::int64_t at = line / m_at.inner, beside = line % m_at.inner;
        const std::int64_t first = at * m_at.extent * m_at.inner + beside;
        readLine(floatsAt(m_at.from, memory, first), numbers);
        sortLine(numbers.data(), order);
        const std::int64_t to = at * m_at.k * m_at.inner + beside;
        for (std::int64_t i = 0; i < m_at.k; ++i) {
          const std::int64_t place = order[static_cast<std::size_t>(i)];
          if (m_at.wantsValues)
            fromFloats(&numbers[static_cast<std::size_t>(place)], floatsAt(m_at.values, memory, to + i * m_at.inner),
                       1);
          if (indices != nullptr) indices[to + i * m_at.inner] = place;
        }
      }
    });
    return Done{};
  }

 private:
  void readLine(const Floats& first, std::vector<float>& numbers) const {
    if (m_at.inner == 1) return toFloats(first, numbers.data(), numbers.size());
    for (std::int64_t i = 0; i < m_at.extent; ++i)
      toFloats(first.from(i * m_at.inner), &numbers[static_cast<std::size_t>(i)], 1);
  }

  /// Moves the places of the k first elements to the beginning of `order`. As in the reference kernel, of equal
  /// elements the one with the lower index comes first, and NaN counts as the largest.
  void sortLine(const float* numbers, std::vector<std::int64_t>& order) const {
    std::iota(order.begin(), order.end(), 0);
    const auto before = [&](std::int64_t a, std::int64_t b) {
      const float left = numbers[a], right = numbers[b];
      const bool leftNan = left != left, rightNan = right != right;
      if (leftNan != rightNan) return m_at.largest ? leftNan : rightNan;
      if (leftNan || left == right) return a < b;
      return m_at.largest ? left > right : left < right;
    };
    const auto end = order.begin() + m_at.k;
    if (end != order.end()) std::nth_element(order.begin(), end, order.end(), before);
    std::sort(order.begin(), end, before);
  }

  TopK m_at;
  int m_threads;
};

Result<bool> emitTopK(Context& context, const Node& node) {
  if (!node.is("TopK") || context.typeOf(node.input(0)) != DataType::F32) return false;
  const auto wanted = [&](std::size_t i) {
    return node.outputs.size() > i && node.outputs[i].valid() && context.request().values.contains(node.outputs[i]);
  };
  TopK at{.largest = node.intAttribute("largest", 1) != 0, .wantsIndices = wanted(1), .wantsValues = wanted(0)};
  if (!at.wantsValues && !at.wantsIndices) return false;
  const Dims dims = context.dimsOf(node.input(0)), result = context.dimsOf(node.outputs[at.wantsValues ? 0 : 1]);
  const std::size_t axis = TRY(ops::normalizedAxis(node.intAttribute("axis", -1), dims.size()));
  at.outer = productOf(dims, 0, axis);
  at.extent = dims[axis];
  at.inner = productOf(dims, axis + 1);
  at.k = result[axis];
  at.from = TRY(context.plain(TRY(context.seen(node.input(0)))));
  std::vector<BufferIndex> writes;
  const auto make = [&](std::size_t i, Ref& to) {
    to = context.allocate(node.outputs[i], {}, context.storedType(node.outputs[i]));
    context.define(node.outputs[i], to);
    writes.push_back(to.buffer);
  };
  if (at.wantsValues) make(0, at.values);
  if (at.wantsIndices) make(1, at.indices);
  context.chose({.kind = kTopKKernel});
  const BufferIndex from = at.from.buffer;
  context.program().addStep(std::make_unique<TopKStep>(std::move(at), context.threads()), {from}, writes);
  return true;
}

}  // namespace

extern const Emitter kTopKEmitter{.name = "top_k", .emit = emitTopK};

}  // namespace fusescope::native
