#include "backends/native/attention_step.h"

#include <omp.h>

#include <algorithm>
#include <cmath>

#include "backends/native/gemm.h"
#include "backends/native/row_product.h"
#include "backends/native/rows.h"

namespace fusescope::native {
namespace {

constexpr std::int64_t kBlockRows = 48;  ///< of the query; a multiple of the rows of every matrix kernel
/// Up to so many rows, packing keys and values costs more than it saves.
constexpr std::int64_t kFewRows = 4;
constexpr std::int64_t kParallelWork = 64 * 1024;

class AttentionStep final : public Step {
 public:
  AttentionStep(AttentionCall call, int threads) : m_call(std::move(call)), m_threads(threads) {
    const Dims& q = m_call.query.dims;
    m_rank = q.size();
    m_rows = q[m_rank - 2];
    m_depth = q[m_rank - 1];
    m_keys = m_call.key.dims[m_rank - 1];
    m_width = m_call.value.dims[m_rank - 1];
    m_batches = productOf(q, 0, m_rank - 2);
    m_packs = m_rows > kFewRows;
    m_keyCount = m_packs ? aligned(packedCount(m_depth, m_keys)) : 0;
    m_valueCount = m_packs ? aligned(packedCount(m_keys, m_width)) : 0;
    m_scoreCount = aligned(kBlockRows * m_keys);
    m_work = m_batches * m_rows * m_keys * (m_depth + m_width);
  }

  std::size_t scratchBytes() const override {
    return static_cast<std::size_t>(m_batches * (m_keyCount + m_valueCount) + m_threads * m_scoreCount) * sizeof(float);
  }

  Status run(Memory memory, std::byte* scratch) const override {
    float* keys = reinterpret_cast<float*>(scratch);
    float* values = keys + m_batches * m_keyCount;
    float* scores = values + m_batches * m_valueCount;
    const std::int64_t blocks = (m_rows + kBlockRows - 1) / kBlockRows;
#pragma omp parallel num_threads(m_threads) if (m_work > kParallelWork)
    {
#pragma omp for schedule(static)
      for (std::int64_t batch = 0; batch < (m_packs ? m_batches : 0); ++batch) {
        pack(m_call.key, memory, batch, m_depth, m_keys, keys + batch * m_keyCount);
        pack(m_call.value, memory, batch, m_keys, m_width, values + batch * m_valueCount);
      }
#pragma omp for schedule(dynamic)
      for (std::int64_t item = 0; item < m_batches * blocks; ++item) {
        const std::int64_t batch = item / blocks;
        runBlock(memory, batch, item % blocks * kBlockRows, keys + batch * m_keyCount, values + batch * m_valueCount,
                 scores + omp_get_thread_num() * m_scoreCount);
      }
    }
    return Done{};
  }

 private:
  static std::int64_t aligned(std::int64_t count) {
    return (count + 15) / 16 * 16;
  }

  /// Elements from the beginning of `ref` to its matrix of `batch`.
  std::int64_t batchOffset(const Ref& ref, std::int64_t batch) const {
    std::int64_t offset = 0;
    for (std::size_t i = m_rank - 2; i-- > 0;) {
      offset += batch % m_call.query.dims[i] * ref.strides[i];
      batch /= m_call.query.dims[i];
    }
    return offset;
  }

  float* matrix(const Ref& ref, Memory memory, std::int64_t batch) const {
    return elementsAt<float>(ref, memory) + batchOffset(ref, batch);
  }

  void pack(const Ref& ref, Memory memory, std::int64_t batch, std::int64_t k, std::int64_t n, float* packed) const {
    packPanels(matrix(ref, memory, batch), ref.strides[m_rank - 2], ref.strides[m_rank - 1], k, n, 0,
               (n + gemmPanel() - 1) / gemmPanel(), packed);
  }

  void runBlock(Memory memory, std::int64_t batch, std::int64_t firstRow, const float* keys, const float* values,
                float* scores) const {
    const std::int64_t rows = std::min(kBlockRows, m_rows - firstRow);
    const std::int64_t queryStride = m_call.query.strides[m_rank - 2];
    const std::int64_t resultStride = m_call.result.strides[m_rank - 2];
    const float* query = matrix(m_call.query, memory, batch) + firstRow * queryStride;
    float* result = matrix(m_call.result, memory, batch) + firstRow * resultStride;
    if (m_packs) {
      multiply(query, queryStride, keys, rows, m_depth, m_keys, scores, m_keys);
    } else {
      const MatrixView view = viewOf(m_call.key, memory, batch, m_depth, m_keys);
      for (std::int64_t i = 0; i < rows; ++i) multiplyRow(query + i * queryStride, view, scores + i * m_keys);
    }
    for (std::int64_t i = 0; i < rows; ++i) {
      float* row = scores + i * m_keys;
      for (const ScoreTerm& term : m_call.terms) apply(term, memory, batch, firstRow + i, row);
      softmaxRow(row, row, m_keys, false);
      if (!m_call.guard) continue;
      const float instead = *m_call.guard;
      for (std::int64_t j = 0; j < m_keys; ++j) row[j] = std::isnan(row[j]) ? instead : row[j];
    }
    if (m_packs) {
      multiply(scores, m_keys, values, rows, m_keys, m_width, result, resultStride);
    } else {
      const MatrixView view = viewOf(m_call.value, memory, batch, m_keys, m_width);
      for (std::int64_t i = 0; i < rows; ++i) multiplyRow(scores + i * m_keys, view, result + i * resultStride);
    }
  }

  /// c [m, n] = a [m, k] · packed
  static void multiply(const float* a, std::int64_t lda, const float* packed, std::int64_t m, std::int64_t k,
                       std::int64_t n, float* c, std::int64_t ldc) {
    runGemm({.a = a,
             .lda = lda,
             .packed = packed,
             .c = c,
             .ldc = ldc,
             .m = m,
             .n = n,
             .k = k,
             .panels = (n + gemmPanel() - 1) / gemmPanel()});
  }

  MatrixView viewOf(const Ref& ref, Memory memory, std::int64_t batch, std::int64_t k, std::int64_t n) const {
    return {matrix(ref, memory, batch), ref.strides[m_rank - 2], ref.strides[m_rank - 1], k, n};
  }

  void apply(const ScoreTerm& term, Memory memory, std::int64_t batch, std::int64_t rowIndex, float* row) const {
    using Kind = ScoreTerm::Kind;
    const float* by = term.operand ? rowOf<float>(*term.operand, memory, batch, rowIndex) : &term.number;
    const std::int64_t stride = term.operand ? term.operand->strides[m_rank - 1] : 0;
    switch (term.kind) {
      case Kind::Multiply:
        if (stride == 0) return scaleRow(row, m_keys, *by);
        return change(row, by, stride, [](float score, float other) { return score * other; });
      case Kind::Add:
        if (stride == 1) return addRow(row, by, m_keys);
        return change(row, by, stride, [](float score, float other) { return score + other; });
      case Kind::Subtract:
        return change(row, by, stride, [](float score, float other) { return score - other; });
      case Kind::Divide:
        return change(row, by, stride, [](float score, float other) { return score / other; });
      case Kind::SoftCap:
        return change(row, by, stride, [](float score, float other) { return other * std::tanh(score / other); });
      case Kind::WhereTrue:
      case Kind::WhereFalse:
        return choose(term, rowOf<std::uint8_t>(*term.condition, memory, batch, rowIndex), by, stride, row);
    }
  }

  template <class Change>
  void change(float* row, const float* by, std::int64_t stride, const Change& changed) const {
    for (std::int64_t j = 0; j < m_keys; ++j) row[j] = changed(row[j], by[j * stride]);
  }

  void choose(const ScoreTerm& term, const std::uint8_t* truths, const float* by, std::int64_t stride,
              float* row) const {
    const std::int64_t truthStride = term.condition->strides[m_rank - 1];
    const bool when = term.kind == ScoreTerm::Kind::WhereTrue;
    for (std::int64_t j = 0; j < m_keys; ++j) {
      if ((truths[j * truthStride] != 0) == when) row[j] = by[j * stride];
    }
  }

  /// Where the operand of a term has what belongs to row `rowIndex` of the scores of `batch`.
  template <class T>
  const T* rowOf(const Ref& ref, Memory memory, std::int64_t batch, std::int64_t rowIndex) const {
    return elementsAt<const T>(ref, memory) + batchOffset(ref, batch) + rowIndex * ref.strides[m_rank - 2];
  }

  AttentionCall m_call;
  int m_threads;
  std::size_t m_rank = 0;
  std::int64_t m_rows = 0, m_depth = 0, m_keys = 0, m_width = 0, m_batches = 1;
  std::int64_t m_keyCount = 0, m_valueCount = 0, m_scoreCount = 0, m_work = 0;
  bool m_packs = true;
};

}  // namespace

std::unique_ptr<Step> makeAttentionStep(AttentionCall call, int threads) {
  return std::make_unique<AttentionStep>(std::move(call), threads);
}

}  // namespace fusescope::native
