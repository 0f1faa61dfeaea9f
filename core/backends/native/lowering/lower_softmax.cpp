#include <omp.h>

#include <algorithm>

#include "backends/native/kernels/float_rows.h"
#include "backends/native/kernels/parallel.h"
#include "backends/native/kernels/rows.h"
#include "backends/native/lowering/emitter.h"
#include "base/aligned_memory.h"

namespace fusescope::native {
namespace {

/// The kernel flushes denormal numbers: the exponentials of scores far below the largest are 0 (expOfNegative()).
constexpr KernelKind kSoftmaxKernel{.name = "softmax", .flushes = true};

class SoftmaxStep final : public Step {
 public:
  SoftmaxStep(Ref from, Ref to, std::int64_t count, bool logarithm, int threads)
      : m_from(std::move(from)), m_to(std::move(to)), m_count(count), m_logarithm(logarithm), m_threads(threads) {}
  std::size_t scratchBytes() const override {
    return rowBytes(m_from, m_to, m_count) * static_cast<std::size_t>(m_threads);
  }
  Status run(Memory memory, std::byte* scratch) const override {
    const std::int64_t total = m_from.count();
    const std::int64_t rows = m_count == 0 ? 0 : total / m_count;
    const std::size_t bytes = rowBytes(m_from, m_to, m_count);
    forEach(rows, total > kFewElements ? m_threads : 1, [&](std::int64_t i) {
      auto* own = reinterpret_cast<float*>(scratch + bytes * static_cast<std::size_t>(omp_get_thread_num()));
      float* to = placeFloats(m_to, memory, i * m_count, own);
      softmaxRow(readFloats(m_from, memory, i * m_count, m_count, own), to, m_count, m_logarithm);
      storeFloats(m_to, memory, i * m_count, m_count, to);
    });
    return Done{};
  }

 private:
  Ref m_from, m_to;
  std::int64_t m_count;
  bool m_logarithm;
  int m_threads;
};

/// Calculates a softmax over the middle axis of a row-major [outer, count, inner], several columns at a time.
class ColumnSoftmaxStep final : public Step {
 public:
  ColumnSoftmaxStep(Ref from, Ref to, std::size_t axis, bool logarithm, int threads)
      : m_from(std::move(from)),
        m_to(std::move(to)),
        m_outer(productOf(m_from.dims, 0, axis)),
        m_count(m_from.dims[axis]),
        m_inner(productOf(m_from.dims, axis + 1)),
        m_logarithm(logarithm),
        m_threads(threads) {}
  std::size_t scratchBytes() const override { return bytes() * static_cast<std::size_t>(m_threads); }
  Status run(Memory memory, std::byte* scratch) const override {
    const std::int64_t width = columnBlock(), blocks = (m_inner + width - 1) / width;
    forEach(m_outer * blocks, m_from.count() > kFewElements ? m_threads : 1, [&](std::int64_t i) {
      auto* own = reinterpret_cast<float*>(scratch + bytes() * static_cast<std::size_t>(omp_get_thread_num()));
      const std::int64_t first = i % blocks * width, at = i / blocks * m_count * m_inner + first;
      softmaxColumns(floatsAt(m_from, memory, at), floatsAt(m_to, memory, at), m_count, m_inner,
                     std::min(width, m_inner - first), m_logarithm, own);
    });
    return Done{};
  }

 private:
  std::size_t bytes() const { return wholeLines(static_cast<std::size_t>(m_count * columnBlock()) * sizeof(float)); }

  Ref m_from, m_to;
  std::int64_t m_outer, m_count, m_inner;
  bool m_logarithm;
  int m_threads;
};

Status emitSoftmaxOver(Context& context, const Node& node, std::size_t axis) {
  const Dims dims = context.dimsOf(node.input(0));
  const bool last = productOf(dims, axis + 1) == 1;
  const bool logarithm = node.is("LogSoftmax");
  const Ref from = TRY(context.plain(TRY(context.seen(node.input(0)))));
  const Ref to = context.allocate(node.outputs[0], {}, context.storedType(node.outputs[0]));
  std::unique_ptr<Step> step;
  if (last) {
    step = std::make_unique<SoftmaxStep>(from, to, dims[axis], logarithm, context.threads());
  } else {
    step = std::make_unique<ColumnSoftmaxStep>(from, to, axis, logarithm, context.threads());
  }
  context.program().addStep(std::move(step), {from.buffer}, {to.buffer});
  context.define(node.outputs[0], to);
  context.chose({.kind = kSoftmaxKernel});
  return Done{};
}

Result<bool> emitSoftmax(Context& context, const Node& node) {
  if (!node.is("Softmax") && !node.is("LogSoftmax")) return false;
  const Dims dims = context.dimsOf(node.input(0));
  if (context.typeOf(node.input(0)) != DataType::F32 || dims.empty()) return false;
  TRY(emitSoftmaxOver(context, node, positiveAxis(node.intAttribute("axis", -1), dims.size())));
  return true;
}

}  // namespace

extern const Emitter kSoftmaxEmitter{.name = "softmax", .emit = emitSoftmax};

}  // namespace fusescope::native
