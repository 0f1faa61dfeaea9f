#include "backends/native/steps/attention_step.h"

#include <omp.h>

#include <algorithm>

#include "backends/native/kernels/float_rows.h"
#include "backends/native/kernels/gemm.h"
#include "backends/native/kernels/narrow_floats.h"
#include "backends/native/kernels/parallel.h"
#include "backends/native/kernels/row_product.h"
#include "backends/native/kernels/score_rows.h"
#include "backends/native/steps/attention_sizes.h"

namespace fusescope::native {
namespace {

/// A number that is added to hide a key is at most kHidden. If the largest score of a row is above kSeen, the weights
/// of its hidden keys are 0.
constexpr float kHidden = -1e30f, kSeen = -1e29f;
/// e^-kUnderflow is 0 in f32.
constexpr float kUnderflow = 88.0f;

class AttentionStep final : public Step {
 public:
  AttentionStep(AttentionCall call, int threads, AttentionAt at)
      : m_call(std::move(call)), m_at(std::move(at)), m_mostThreads(threads), m_sizes(m_call, threads) {}

  std::unique_ptr<const Step> forExtents(const NewExtents& extents) const override {
    auto call = m_at ? m_at(extents.after()) : std::nullopt;
    return call ? makeAttentionStep(std::move(*call), m_mostThreads, m_at) : nullptr;
  }

  std::size_t scratchBytes() const override { return m_sizes.scratchBytes(); }

  // A single thread enters no parallel region (parallel.h); the worksharing loops then give it all the work.
  Status run(Memory memory, std::byte* scratch) const override {
    Claims batches(m_sizes.batches, m_sizes.threads);
    if (m_sizes.threads == 1) {
      share(memory, scratch, batches);
    } else {
#pragma omp parallel num_threads(m_sizes.threads)
      share(memory, scratch, batches);
    }
    return Done{};
  }

 private:
  /// Is called by each thread of the team. `batches` are the batches whose keys and values are packed by the thread
  /// that runs them.
  void share(Memory memory, std::byte* scratch, Claims& batches) const {
    float* packs = reinterpret_cast<float*>(scratch);
    Keys* ranges = reinterpret_cast<Keys*>(packs + m_sizes.packCount() * (m_sizes.keyCount + m_sizes.valueCount));
    std::byte* threads = reinterpret_cast<std::byte*>(ranges) + m_sizes.rangeBytes();
    const int me = omp_get_thread_num();
    std::byte* mine = threads + static_cast<std::size_t>(me) * m_sizes.threadBytes();
    const auto keysOf = [&](std::int64_t block) { return m_sizes.hidesKeys ? ranges[block] : Keys{0, m_sizes.keys}; };
    if (m_sizes.hidesKeys) {
#pragma omp for schedule(dynamic)
      for (std::int64_t block = 0; block < m_sizes.blocks; ++block) ranges[block] = visible(memory, block);
    }
    if (m_sizes.packsTogether) {
      const auto distinct = static_cast<std::int64_t>(m_sizes.distinct.size());
#pragma omp for schedule(dynamic)
      for (std::int64_t i = 0; i < distinct; ++i)
        pack(memory, m_sizes.distinct[static_cast<std::size_t>(i)], packAt(packs, i));
#pragma omp for schedule(dynamic)
      for (std::int64_t item = 0; item < m_sizes.batches * m_sizes.blocks; ++item) {
        const std::int64_t batch = item / m_sizes.blocks;
        const std::int64_t block = item % m_sizes.blocks;
        runBlock(memory, rowsAt(memory, batch, block, mine), keysOf(block),
                 packAt(packs, m_sizes.packOf[static_cast<std::size_t>(batch)]));
      }
    } else {
      std::int64_t held = -1;  // the number of the pack that this thread made last
      takeEach(batches, me, [&](std::int64_t batch) {
        float* packed = packAt(packs, me);
        if (m_sizes.packs && m_sizes.packOf[static_cast<std::size_t>(batch)] != held) {
          held = m_sizes.packOf[static_cast<std::size_t>(batch)];
          pack(memory, batch, packed);
        }
        for (std::int64_t block = 0; block < m_sizes.blocks; ++block)
          runBlock(memory, rowsAt(memory, batch, block, mine), keysOf(block), packed);
      });
    }
  }

  float* packAt(float* packs, std::int64_t index) const {
    return packs + index * (m_sizes.keyCount + m_sizes.valueCount);
  }

  template <class T = float>
  T* matrix(const Ref& ref, Memory memory, std::int64_t batch) const {
    return elementsAt<T>(ref, memory) + m_sizes.batchOffset(ref, batch);
  }
  Floats floats(const Ref& ref, Memory memory, std::int64_t batch) const {
    return floatsAt(ref, memory, m_sizes.batchOffset(ref, batch));
  }

  static std::int64_t panelsOf(std::int64_t columns) {
    return (columns + gemmPanel() - 1) / gemmPanel();
  }

  void pack(Memory memory, std::int64_t batch, float* packed) const {
    const auto one = [&](const Ref& ref, std::int64_t k, std::int64_t n, float* to) {
      packPanels(floats(ref, memory, batch), ref.strides[m_sizes.rank - 2], ref.strides[m_sizes.rank - 1], k, n, 0,
                 panelsOf(n), to);
    };
    one(m_call.key, m_sizes.depth, m_sizes.keys, packed);
    one(m_call.value, m_sizes.keys, m_sizes.width, packed + m_sizes.keyCount);
  }

  /// Returns the keys that are visible to any row of the block, rounded to whole panels.
  Keys visible(Memory memory, std::int64_t block) const {
    const ScoreTerm& last = m_call.terms.back();
    Keys seen{m_sizes.keys, 0};
    for (std::int64_t row = block * m_sizes.blockRows; row < block * m_sizes.blockRows + m_sizes.rowsOf(block); ++row) {
      KeyMask mask{.hidden = kHidden};
      if (last.operand) {
        mask.numbers = elementsAt<const float>(*last.operand, memory) + row * last.operand->strides[m_sizes.rank - 2];
      } else {
        mask.truths =
            elementsAt<const std::uint8_t>(*last.condition, memory) + row * last.condition->strides[m_sizes.rank - 2];
        mask.visible = last.kind == ScoreTerm::Kind::WhereFalse;
      }
      const auto [begin, end] = visibleKeys(mask, m_sizes.keys, gemmPanel());
      if (begin == end) continue;
      seen = {std::min(seen.begin, begin), std::max(seen.end, end)};
    }
    return seen.begin < seen.end ? seen : Keys{0, m_sizes.keys};
  }

  /// Rows of a query, with the memory of the thread that processes them.
  struct Rows {
    std::int64_t batch, first, count;
    const float* query;
    std::int64_t queryStride;
    float* result;
    std::int64_t resultStride;
    ScoreTermRows* terms;
    float *scores, *top, *total;
  };

  Rows rowsAt(Memory memory, std::int64_t batch, std::int64_t block, std::byte* mine) const {
    const std::int64_t first = block * m_sizes.blockRows;
    auto* scores = reinterpret_cast<float*>(mine + m_sizes.termBytes());
    Rows rows{.batch = batch,
              .first = first,
              .count = m_sizes.rowsOf(block),
              .queryStride = m_call.query.strides[m_sizes.rank - 2],
              .resultStride = m_call.result.strides[m_sizes.rank - 2],
              .terms = reinterpret_cast<ScoreTermRows*>(mine),
              .scores = scores,
              .top = scores + m_sizes.scoreCount,
              .total = scores + m_sizes.scoreCount + m_sizes.blockRows};
    float* own = rows.total + m_sizes.blockRows;
    const Floats query = floats(m_call.query, memory, batch).from(first * rows.queryStride);
    if (m_sizes.widensQuery) {
      for (std::int64_t i = 0; i < rows.count; ++i)
        toFloats(query.from(i * rows.queryStride), own + i * m_sizes.depth, static_cast<std::size_t>(m_sizes.depth));
      rows.query = own;
      rows.queryStride = m_sizes.depth;
      own += m_sizes.blockRows * m_sizes.depth;
    } else {
      rows.query = reinterpret_cast<const float*>(query.at);
    }
    if (m_sizes.narrowsResult) {
      rows.result = own;
      rows.resultStride = m_sizes.width;
    } else {
      rows.result = matrix(m_call.result, memory, batch) + first * rows.resultStride;
    }
    return rows;
  }

  void storeResult(Memory memory, const Rows& rows) const {
    const std::int64_t stride = m_call.result.strides[m_sizes.rank - 2];
    const Floats result = floats(m_call.result, memory, rows.batch).from(rows.first * stride);
    for (std::int64_t i = 0; i < rows.count; ++i)
      fromFloats(rows.result + i * rows.resultStride, result.from(i * stride), static_cast<std::size_t>(m_sizes.width));
  }

  void runBlock(Memory memory, const Rows& rows, Keys seen, const float* packed) const {
    if (!m_sizes.packs) {
      runFewRows(memory, rows);
    } else {
      runKeys(memory, rows, seen, packed);
      // If all visible scores of a row are too small, the softmax distributes its weights over the hidden keys as well,
      // so that all keys are needed.
      const bool hides = seen.begin > 0 || seen.end < m_sizes.keys;
      if (hides && std::any_of(rows.top, rows.top + rows.count, [&](float best) { return !(best > leastTop()); }))
        runKeys(memory, rows, {0, m_sizes.keys}, packed);
    }
    if (!m_sizes.rounds) divideRows(rows.result, rows.resultStride, m_sizes.width, rows.total, rows.count);
    if (m_call.guard) guardRows(memory, rows, packed);
    if (m_sizes.narrowsResult) storeResult(memory, rows);
  }

  /// Returns the score above which, as the largest of its row, all hidden keys have the weight 0.
  float leastTop() const {
    const ScoreTerm& last = m_call.terms.back();
    return last.operand ? kSeen : last.number + kUnderflow;
  }

  // Processes the keys block by block. When a block contains a larger score, what has been summed so far is scaled
  // (softmaxBlock).
  void runKeys(Memory memory, const Rows& rows, Keys keys, const float* packed) const {
    const std::int64_t panel = gemmPanel();
    const float* values = packed + m_sizes.keyCount;
    for (std::int64_t begin = keys.begin; begin < keys.end; begin += m_sizes.blockKeys) {
      const std::int64_t count = std::min(m_sizes.blockKeys, keys.end - begin);
      runGemm({.a = rows.query,
               .lda = rows.queryStride,
               .packed = floatsOf(packed + begin * m_sizes.depth),
               .c = rows.scores,
               .ldc = m_sizes.scoreStride,
               .m = rows.count,
               .n = (count + panel / 2 - 1) / (panel / 2) * (panel / 2),
               .k = m_sizes.depth,
               .panels = panelsOf(count)});
      weigh(memory, rows, {begin, begin + count}, begin == keys.begin);
      runGemm({.a = rows.scores,
               .lda = m_sizes.scoreStride,
               .packed = floatsOf(values + begin * panel),
               .c = rows.result,
               .ldc = rows.resultStride,
               .m = rows.count,
               .n = m_sizes.width,
               .k = count,
               .panels = panelsOf(m_sizes.width),
               .panelRows = m_sizes.keys,
               .accumulate = begin != keys.begin});
    }
  }

  void weigh(Memory memory, const Rows& rows, Keys keys, bool first) const {
    for (std::size_t i = 0; i < m_call.terms.size(); ++i)
      rows.terms[i] = termAt(m_call.terms[i], memory, rows.batch, rows.first, keys.begin);
    softmaxBlock({.scores = rows.scores,
                  .stride = m_sizes.scoreStride,
                  .rows = rows.count,
                  .keys = keys.end - keys.begin,
                  .terms = {rows.terms, m_call.terms.size()},
                  .first = first,
                  .top = rows.top,
                  .total = rows.total,
                  .result = rows.result,
                  .resultStride = rows.resultStride,
                  .width = m_sizes.width});
    if (m_sizes.rounds) roundWeights(rows, keys.end - keys.begin);
  }

  // Divides and rounds the weights, so that the values are weighed with the rounded result of the softmax. All keys of
  // a row must be in one block.
  void roundWeights(const Rows& rows, std::int64_t keys) const {
    divideRows(rows.scores, m_sizes.scoreStride, keys, rows.total, rows.count);
    for (std::int64_t i = 0; i < rows.count; ++i) {
      float* row = rows.scores + i * m_sizes.scoreStride;
      roundFloats(m_call.weights, row, row, static_cast<std::size_t>(keys));
    }
  }

  ScoreTermRows termAt(const ScoreTerm& term, Memory memory, std::int64_t batch, std::int64_t row,
                       std::int64_t key) const {
    ScoreTermRows at{.kind = term.kind, .by = &term.number};
    if (term.operand) {
      at.byRow = term.operand->strides[m_sizes.rank - 2];
      at.byKey = term.operand->strides[m_sizes.rank - 1];
      at.by = matrix<const float>(*term.operand, memory, batch) + row * at.byRow + key * at.byKey;
    }
    if (term.condition) {
      at.conditionRow = term.condition->strides[m_sizes.rank - 2];
      at.conditionKey = term.condition->strides[m_sizes.rank - 1];
      at.condition =
          matrix<const std::uint8_t>(*term.condition, memory, batch) + row * at.conditionRow + key * at.conditionKey;
    }
    return at;
  }

  // Runs few rows: keys and values are read where they are, without packing.
  void runFewRows(Memory memory, const Rows& rows) const {
    const MatrixView keys = viewOf(m_call.key, memory, rows.batch, m_sizes.depth, m_sizes.keys);
    const MatrixView values = viewOf(m_call.value, memory, rows.batch, m_sizes.keys, m_sizes.width);
    for (std::int64_t i = 0; i < rows.count; ++i)
      multiplyRow(rows.query + i * rows.queryStride, keys, rows.scores + i * m_sizes.scoreStride);
    weigh(memory, rows, {0, m_sizes.keys}, true);
    for (std::int64_t i = 0; i < rows.count; ++i)
      multiplyRow(rows.scores + i * m_sizes.scoreStride, values, rows.result + i * rows.resultStride);
  }

  // If a row has no total above 0 (every score is -infinity, or one is NaN), all its weights are set to the guard.
  void guardRows(Memory memory, const Rows& rows, const float* packed) const {
    for (std::int64_t i = 0; i < rows.count; ++i) {
      if (rows.total[i] > 0) continue;
      float* result = rows.result + i * rows.resultStride;
      std::fill(rows.scores, rows.scores + m_sizes.scoreStride, *m_call.guard);
      if (m_sizes.rounds)
        roundFloats(m_call.weights, rows.scores, rows.scores, static_cast<std::size_t>(m_sizes.scoreStride));
      if (!m_sizes.packs) {
        multiplyRow(rows.scores, viewOf(m_call.value, memory, rows.batch, m_sizes.keys, m_sizes.width), result);
        continue;
      }
      for (std::int64_t begin = 0; begin < m_sizes.keys; begin += m_sizes.blockKeys) {
        runGemm({.a = rows.scores,
                 .lda = m_sizes.scoreStride,
                 .packed = floatsOf(packed + m_sizes.keyCount + begin * gemmPanel()),
                 .c = result,
                 .ldc = rows.resultStride,
                 .m = 1,
                 .n = m_sizes.width,
                 .k = std::min(m_sizes.blockKeys, m_sizes.keys - begin),
                 .panels = panelsOf(m_sizes.width),
                 .panelRows = m_sizes.keys,
                 .accumulate = begin > 0});
      }
    }
  }

  MatrixView viewOf(const Ref& ref, Memory memory, std::int64_t batch, std::int64_t k, std::int64_t n) const {
    return {floats(ref, memory, batch), ref.strides[m_sizes.rank - 2], ref.strides[m_sizes.rank - 1], k, n};
  }

  AttentionCall m_call;
  AttentionAt m_at;
  int m_mostThreads;  ///< the number of threads that may be used
  AttentionSizes m_sizes;
};

}  // namespace

std::unique_ptr<Step> makeAttentionStep(AttentionCall call, int threads, AttentionAt at) {
  return std::make_unique<AttentionStep>(std::move(call), threads, std::move(at));
}

}  // namespace fusescope::native
