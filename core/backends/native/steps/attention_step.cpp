#include "backends/native/steps/attention_step.h"

#include <omp.h>

#include <algorithm>
#include <map>
#include <type_traits>

#include "backends/native/kernels/float_rows.h"
#include "backends/native/kernels/gemm.h"
#include "backends/native/kernels/narrow_floats.h"
#include "backends/native/kernels/parallel.h"
#include "backends/native/kernels/row_product.h"
#include "backends/native/kernels/score_rows.h"

namespace fusescope::native {
namespace {

/// At most this many rows of the query, and this many keys, are processed together: their scores then stay in the cache
/// between the two products, and a block of values is read once for all these rows.
constexpr std::int64_t kBlockRows = 64;
constexpr std::int64_t kBlockKeys = 256;
/// If all scores of a row must be calculated before any of them is weighed, fewer rows are processed together, so that
/// there are at most this many scores.
constexpr std::int64_t kMostScores = 64 * 1024;
constexpr std::int64_t kLeastQueryRows = 8;
/// For up to this many rows, packing keys and values costs more than it saves.
constexpr std::int64_t kFewQueryRows = 4;
/// A number that is added to hide a key is at most kHidden. If the largest score of a row is above kSeen, the weights
/// of its hidden keys are 0.
constexpr float kHidden = -1e30f, kSeen = -1e29f;
/// A score that replaces hidden ones is at most kReplaced; e^-kUnderflow is 0 in f32.
constexpr float kReplaced = -1e3f, kUnderflow = 88.0f;

template <class T>
T roundUp(T count, std::type_identity_t<T> unit) {
  return (count + unit - 1) / unit * unit;
}

/// The keys [begin, end).
struct Keys {
  std::int64_t begin = 0, end = 0;
};

class AttentionStep final : public Step {
 public:
  AttentionStep(AttentionCall call, int threads, AttentionAt at)
      : m_call(std::move(call)), m_at(std::move(at)), m_mostThreads(threads), m_threads(threads) {
    const Dims& q = m_call.query.dims;
    m_rank = q.size();
    m_rows = q[m_rank - 2];
    m_depth = q[m_rank - 1];
    m_keys = m_call.key.dims[m_rank - 1];
    m_width = m_call.value.dims[m_rank - 1];
    m_batches = productOf(q, 0, m_rank - 2);
    m_packs = m_rows > kFewQueryRows;
    m_rounds = m_call.weights != DataType::Undefined;
    m_blockKeys = m_rounds ? m_keys : kBlockKeys;
    const std::int64_t most = m_rounds ? std::clamp(kMostScores / m_keys, kLeastQueryRows, kBlockRows) : kBlockRows;
    m_blocks = (m_rows + most - 1) / most;
    m_blockRows = (m_rows + m_blocks - 1) / m_blocks;
    m_keyCount = m_packs ? roundUp(packedCount(m_depth, m_keys), 16) : 0;
    m_valueCount = m_packs ? roundUp(packedCount(m_keys, m_width), 16) : 0;
    m_scoreStride = roundUp(m_packs ? std::min(m_keys, m_blockKeys) : m_keys, gemmPanel());
    m_scoreCount = m_blockRows * m_scoreStride;
    const std::int64_t work = m_batches * m_rows * m_keys * (m_depth + m_width);
    if (work <= kFewProducts) m_threads = 1;
    if (m_packs) findPacks();
    // If there are enough heads, or only one block of rows in each, the thread that packs a head also runs it.
    m_packsTogether = m_packs && m_blocks > 1 && m_distinct.size() < static_cast<std::size_t>(2 * m_threads);
    if (m_threads == 1) m_packsTogether = false;
    if (!m_packs) m_blocks = 1;
    findLimit();
  }

  std::unique_ptr<const Step> forExtents(const NewExtents& extents) const override {
    auto call = m_at ? m_at(extents.after()) : std::nullopt;
    return call ? makeAttentionStep(std::move(*call), m_mostThreads, m_at) : nullptr;
  }

  std::size_t scratchBytes() const override {
    return static_cast<std::size_t>(packCount() * (m_keyCount + m_valueCount)) * sizeof(float) + rangeBytes() +
           static_cast<std::size_t>(m_threads) * threadBytes();
  }

  // A single thread enters no parallel region (parallel.h); the worksharing loops then give it all the work.
  Status run(Memory memory, std::byte* scratch) const override {
    Claims batches(m_batches, m_threads);
    if (m_threads == 1) {
      share(memory, scratch, batches);
    } else {
#pragma omp parallel num_threads(m_threads)
      share(memory, scratch, batches);
    }
    return Done{};
  }

 private:
  /// Is called by each thread of the team. `batches` are the batches whose keys and values are packed by the thread
  /// that runs them.
  void share(Memory memory, std::byte* scratch, Claims& batches) const {
    float* packs = reinterpret_cast<float*>(scratch);
    Keys* ranges = reinterpret_cast<Keys*>(packs + packCount() * (m_keyCount + m_valueCount));
    std::byte* threads = reinterpret_cast<std::byte*>(ranges) + rangeBytes();
    const int me = omp_get_thread_num();
    std::byte* mine = threads + static_cast<std::size_t>(me) * threadBytes();
    const auto keysOf = [&](std::int64_t block) { return m_limit ? ranges[block] : Keys{0, m_keys}; };
    if (m_limit) {
#pragma omp for schedule(dynamic)
      for (std::int64_t block = 0; block < m_blocks; ++block) ranges[block] = visible(memory, block);
    }
    if (m_packsTogether) {
      const auto distinct = static_cast<std::int64_t>(m_distinct.size());
#pragma omp for schedule(dynamic)
      for (std::int64_t i = 0; i < distinct; ++i)
        pack(memory, m_distinct[static_cast<std::size_t>(i)], packAt(packs, i));
#pragma omp for schedule(dynamic)
      for (std::int64_t item = 0; item < m_batches * m_blocks; ++item) {
        const std::int64_t batch = item / m_blocks;
        const std::int64_t block = item % m_blocks;
        runBlock(memory, rowsAt(memory, batch, block, mine), keysOf(block),
                 packAt(packs, m_packOf[static_cast<std::size_t>(batch)]));
      }
    } else {
      std::int64_t held = -1;  // the number of the pack that this thread made last
      takeEach(batches, me, [&](std::int64_t batch) {
        float* packed = packAt(packs, me);
        if (m_packs && m_packOf[static_cast<std::size_t>(batch)] != held) {
          held = m_packOf[static_cast<std::size_t>(batch)];
          pack(memory, batch, packed);
        }
        for (std::int64_t block = 0; block < m_blocks; ++block)
          runBlock(memory, rowsAt(memory, batch, block, mine), keysOf(block), packed);
      });
    }
  }

  std::int64_t packCount() const {
    if (!m_packs) return 0;
    return m_packsTogether ? static_cast<std::int64_t>(m_distinct.size()) : m_threads;
  }
  float* packAt(float* packs, std::int64_t index) const {
    return packs + index * (m_keyCount + m_valueCount);
  }

  std::size_t rangeBytes() const {
    return m_limit ? roundUp(m_blocks * sizeof(Keys), 64) : 0;
  }
  std::size_t termBytes() const {
    return roundUp(std::max<std::size_t>(1, m_call.terms.size()) * sizeof(ScoreTermRows), 64);
  }
  /// Returns the size of one thread's memory: terms; scores; the largest score and the total of each row; and, if these
  /// are narrow floats, rows of the query and of the result.
  std::size_t threadBytes() const {
    const std::int64_t wide = m_blockRows * ((widensQuery() ? m_depth : 0) + (narrowsResult() ? m_width : 0));
    return termBytes() + roundUp(static_cast<std::size_t>(m_scoreCount + 2 * m_blockRows + wide) * sizeof(float), 64);
  }
  bool widensQuery() const {
    return isNarrow(m_call.query.dtype);
  }
  bool narrowsResult() const {
    return isNarrow(m_call.result.dtype);
  }

  /// Finds the distinct pairs of keys and values. The heads of a group read the same ones, which are packed once.
  void findPacks() {
    std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> known;
    for (std::int64_t batch = 0; batch < m_batches; ++batch) {
      const auto [entry, isNew] =
          known.emplace(std::pair(batchOffset(m_call.key, batch), batchOffset(m_call.value, batch)),
                        static_cast<std::int64_t>(m_distinct.size()));
      if (isNew) m_distinct.push_back(batch);
      m_packOf.push_back(entry->second);
    }
  }

  // Finds out whether the last term hides keys from rows in the same way in all batches. Only then are hidden keys
  // skipped.
  void findLimit() {
    if (!m_packs || m_call.terms.empty() || m_keys <= gemmPanel()) return;
    const ScoreTerm& last = m_call.terms.back();
    const bool adds = last.kind == ScoreTerm::Kind::Add && last.operand;
    const bool chooses = last.condition && !last.operand && last.number <= kReplaced;
    if (!adds && !chooses) return;
    const Dims& strides = adds ? last.operand->strides : last.condition->strides;
    for (std::size_t i = 0; i + 2 < m_rank; ++i)
      if (strides[i] != 0 && m_call.query.dims[i] != 1) return;
    m_limit = strides.back() == 1;
  }

  /// Returns the number of elements between the beginning of `ref` and its matrix of `batch`.
  std::int64_t batchOffset(const Ref& ref, std::int64_t batch) const {
    std::int64_t offset = 0;
    for (std::size_t i = m_rank - 2; i-- > 0;) {
      offset += batch % m_call.query.dims[i] * ref.strides[i];
      batch /= m_call.query.dims[i];
    }
    return offset;
  }

  template <class T = float>
  T* matrix(const Ref& ref, Memory memory, std::int64_t batch) const {
    return elementsAt<T>(ref, memory) + batchOffset(ref, batch);
  }
  Floats floats(const Ref& ref, Memory memory, std::int64_t batch) const {
    return floatsAt(ref, memory, batchOffset(ref, batch));
  }

  std::int64_t rowsOf(std::int64_t block) const {
    return std::min(m_blockRows, m_rows - block * m_blockRows);
  }

  static std::int64_t panelsOf(std::int64_t columns) {
    return (columns + gemmPanel() - 1) / gemmPanel();
  }

  void pack(Memory memory, std::int64_t batch, float* packed) const {
    const auto one = [&](const Ref& ref, std::int64_t k, std::int64_t n, float* to) {
      packPanels(floats(ref, memory, batch), ref.strides[m_rank - 2], ref.strides[m_rank - 1], k, n, 0, panelsOf(n),
                 to);
    };
    one(m_call.key, m_depth, m_keys, packed);
    one(m_call.value, m_keys, m_width, packed + m_keyCount);
  }

  /// Returns the keys that are visible to any row of the block, rounded to whole panels.
  Keys visible(Memory memory, std::int64_t block) const {
    const ScoreTerm& last = m_call.terms.back();
    Keys seen{m_keys, 0};
    for (std::int64_t row = block * m_blockRows; row < block * m_blockRows + rowsOf(block); ++row) {
      KeyMask mask{.hidden = kHidden};
      if (last.operand) {
        mask.numbers = elementsAt<const float>(*last.operand, memory) + row * last.operand->strides[m_rank - 2];
      } else {
        mask.truths =
            elementsAt<const std::uint8_t>(*last.condition, memory) + row * last.condition->strides[m_rank - 2];
        mask.visible = last.kind == ScoreTerm::Kind::WhereFalse;
      }
      const auto [begin, end] = visibleKeys(mask, m_keys, gemmPanel());
      if (begin == end) continue;
      seen = {std::min(seen.begin, begin), std::max(seen.end, end)};
    }
    return seen.begin < seen.end ? seen : Keys{0, m_keys};
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
    const std::int64_t first = block * m_blockRows;
    auto* scores = reinterpret_cast<float*>(mine + termBytes());
    Rows rows{.batch = batch,
              .first = first,
              .count = rowsOf(block),
              .queryStride = m_call.query.strides[m_rank - 2],
              .resultStride = m_call.result.strides[m_rank - 2],
              .terms = reinterpret_cast<ScoreTermRows*>(mine),
              .scores = scores,
              .top = scores + m_scoreCount,
              .total = scores + m_scoreCount + m_blockRows};
    float* own = rows.total + m_blockRows;
    const Floats query = floats(m_call.query, memory, batch).from(first * rows.queryStride);
    if (widensQuery()) {
      for (std::int64_t i = 0; i < rows.count; ++i)
        toFloats(query.from(i * rows.queryStride), own + i * m_depth, static_cast<std::size_t>(m_depth));
      rows.query = own;
      rows.queryStride = m_depth;
      own += m_blockRows * m_depth;
    } else {
      rows.query = reinterpret_cast<const float*>(query.at);
    }
    if (narrowsResult()) {
      rows.result = own;
      rows.resultStride = m_width;
    } else {
      rows.result = matrix(m_call.result, memory, batch) + first * rows.resultStride;
    }
    return rows;
  }

  void storeResult(Memory memory, const Rows& rows) const {
    const std::int64_t stride = m_call.result.strides[m_rank - 2];
    const Floats result = floats(m_call.result, memory, rows.batch).from(rows.first * stride);
    for (std::int64_t i = 0; i < rows.count; ++i)
      fromFloats(rows.result + i * rows.resultStride, result.from(i * stride), static_cast<std::size_t>(m_width));
  }

  void runBlock(Memory memory, const Rows& rows, Keys seen, const float* packed) const {
    if (!m_packs) {
      runFewRows(memory, rows);
    } else {
      runKeys(memory, rows, seen, packed);
      // If all visible scores of a row are too small, the softmax distributes its weights over the hidden keys as well,
      // so that all keys are needed.
      const bool hides = seen.begin > 0 || seen.end < m_keys;
      if (hides && std::any_of(rows.top, rows.top + rows.count, [&](float best) { return !(best > leastTop()); }))
        runKeys(memory, rows, {0, m_keys}, packed);
    }
    if (!m_rounds) divideRows(rows.result, rows.resultStride, m_width, rows.total, rows.count);
    if (m_call.guard) guardRows(memory, rows, packed);
    if (narrowsResult()) storeResult(memory, rows);
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
    const float* values = packed + m_keyCount;
    for (std::int64_t begin = keys.begin; begin < keys.end; begin += m_blockKeys) {
      const std::int64_t count = std::min(m_blockKeys, keys.end - begin);
      runGemm({.a = rows.query,
               .lda = rows.queryStride,
               .packed = floatsOf(packed + begin * m_depth),
               .c = rows.scores,
               .ldc = m_scoreStride,
               .m = rows.count,
               .n = roundUp(count, panel / 2),
               .k = m_depth,
               .panels = panelsOf(count)});
      weigh(memory, rows, {begin, begin + count}, begin == keys.begin);
      runGemm({.a = rows.scores,
               .lda = m_scoreStride,
               .packed = floatsOf(values + begin * panel),
               .c = rows.result,
               .ldc = rows.resultStride,
               .m = rows.count,
               .n = m_width,
               .k = count,
               .panels = panelsOf(m_width),
               .panelRows = m_keys,
               .accumulate = begin != keys.begin});
    }
  }

  void weigh(Memory memory, const Rows& rows, Keys keys, bool first) const {
    for (std::size_t i = 0; i < m_call.terms.size(); ++i)
      rows.terms[i] = termAt(m_call.terms[i], memory, rows.batch, rows.first, keys.begin);
    softmaxBlock({.scores = rows.scores,
                  .stride = m_scoreStride,
                  .rows = rows.count,
                  .keys = keys.end - keys.begin,
                  .terms = {rows.terms, m_call.terms.size()},
                  .first = first,
                  .top = rows.top,
                  .total = rows.total,
                  .result = rows.result,
                  .resultStride = rows.resultStride,
                  .width = m_width});
    if (m_rounds) roundWeights(rows, keys.end - keys.begin);
  }

  // Divides and rounds the weights, so that the values are weighed with the rounded result of the softmax. All keys of
  // a row must be in one block.
  void roundWeights(const Rows& rows, std::int64_t keys) const {
    divideRows(rows.scores, m_scoreStride, keys, rows.total, rows.count);
    for (std::int64_t i = 0; i < rows.count; ++i) {
      float* row = rows.scores + i * m_scoreStride;
      roundFloats(m_call.weights, row, row, static_cast<std::size_t>(keys));
    }
  }

  ScoreTermRows termAt(const ScoreTerm& term, Memory memory, std::int64_t batch, std::int64_t row,
                       std::int64_t key) const {
    ScoreTermRows at{.kind = term.kind, .by = &term.number};
    if (term.operand) {
      at.byRow = term.operand->strides[m_rank - 2];
      at.byKey = term.operand->strides[m_rank - 1];
      at.by = matrix<const float>(*term.operand, memory, batch) + row * at.byRow + key * at.byKey;
    }
    if (term.condition) {
      at.conditionRow = term.condition->strides[m_rank - 2];
      at.conditionKey = term.condition->strides[m_rank - 1];
      at.condition =
          matrix<const std::uint8_t>(*term.condition, memory, batch) + row * at.conditionRow + key * at.conditionKey;
    }
    return at;
  }

  // Runs few rows: keys and values are read where they are, without packing.
  void runFewRows(Memory memory, const Rows& rows) const {
    const MatrixView keys = viewOf(m_call.key, memory, rows.batch, m_depth, m_keys);
    const MatrixView values = viewOf(m_call.value, memory, rows.batch, m_keys, m_width);
    for (std::int64_t i = 0; i < rows.count; ++i)
      multiplyRow(rows.query + i * rows.queryStride, keys, rows.scores + i * m_scoreStride);
    weigh(memory, rows, {0, m_keys}, true);
    for (std::int64_t i = 0; i < rows.count; ++i)
      multiplyRow(rows.scores + i * m_scoreStride, values, rows.result + i * rows.resultStride);
  }

  // If a row has no total above 0 (every score is -infinity, or one is NaN), all its weights are set to the guard.
  void guardRows(Memory memory, const Rows& rows, const float* packed) const {
    for (std::int64_t i = 0; i < rows.count; ++i) {
      if (rows.total[i] > 0) continue;
      float* result = rows.result + i * rows.resultStride;
      std::fill(rows.scores, rows.scores + m_scoreStride, *m_call.guard);
      if (m_rounds) roundFloats(m_call.weights, rows.scores, rows.scores, static_cast<std::size_t>(m_scoreStride));
      if (!m_packs) {
        multiplyRow(rows.scores, viewOf(m_call.value, memory, rows.batch, m_keys, m_width), result);
        continue;
      }
      for (std::int64_t begin = 0; begin < m_keys; begin += m_blockKeys) {
        runGemm({.a = rows.scores,
                 .lda = m_scoreStride,
                 .packed = floatsOf(packed + m_keyCount + begin * gemmPanel()),
                 .c = result,
                 .ldc = rows.resultStride,
                 .m = 1,
                 .n = m_width,
                 .k = std::min(m_blockKeys, m_keys - begin),
                 .panels = panelsOf(m_width),
                 .panelRows = m_keys,
                 .accumulate = begin > 0});
      }
    }
  }

  MatrixView viewOf(const Ref& ref, Memory memory, std::int64_t batch, std::int64_t k, std::int64_t n) const {
    return {floats(ref, memory, batch), ref.strides[m_rank - 2], ref.strides[m_rank - 1], k, n};
  }

  AttentionCall m_call;
  AttentionAt m_at;
  int m_mostThreads, m_threads;  ///< the number of threads that may be used, and the number that is used
  std::size_t m_rank = 0;
  std::int64_t m_rows = 0, m_depth = 0, m_keys = 0, m_width = 0, m_batches = 1;
  std::int64_t m_blocks = 1, m_blockRows = 0, m_blockKeys = kBlockKeys;
  std::int64_t m_keyCount = 0, m_valueCount = 0, m_scoreStride = 0, m_scoreCount = 0;
  // The number of the pack of each batch; the first batch of each pack.
  std::vector<std::int64_t> m_packOf, m_distinct;
  bool m_packs = true, m_packsTogether = false;
  bool m_limit = false;   ///< the last term hides keys
  bool m_rounds = false;  ///< the weights are rounded, so that each block contains all keys
};

}  // namespace

std::unique_ptr<Step> makeAttentionStep(AttentionCall call, int threads, AttentionAt at) {
  return std::make_unique<AttentionStep>(std::move(call), threads, std::move(at));
}

}  // namespace fusescope::native
