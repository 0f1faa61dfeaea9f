#include "backends/native/steps/attention_sizes.h"

#include <algorithm>
#include <map>
#include <type_traits>
#include <utility>

#include "backends/native/kernels/gemm.h"
#include "backends/native/kernels/narrow_floats.h"
#include "backends/native/kernels/parallel.h"
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
/// A score that replaces hidden ones is at most this number.
constexpr float kReplaced = -1e3f;

template <class T>
T roundUp(T count, std::type_identity_t<T> unit) {
  return (count + unit - 1) / unit * unit;
}

}  // namespace

AttentionSizes::AttentionSizes(const AttentionCall& call, int mostThreads)
    : rank(call.query.dims.size()), threads(mostThreads), m_query(call.query.dims), m_terms(call.terms.size()) {
  rows = m_query[rank - 2];
  depth = m_query[rank - 1];
  keys = call.key.dims[rank - 1];
  width = call.value.dims[rank - 1];
  batches = productOf(m_query, 0, rank - 2);
  packs = rows > kFewQueryRows;
  rounds = call.weights != DataType::Undefined;
  blockKeys = rounds ? keys : kBlockKeys;
  const std::int64_t most = rounds ? std::clamp(kMostScores / keys, kLeastQueryRows, kBlockRows) : kBlockRows;
  blocks = (rows + most - 1) / most;
  blockRows = (rows + blocks - 1) / blocks;
  keyCount = packs ? roundUp(packedCount(depth, keys), 16) : 0;
  valueCount = packs ? roundUp(packedCount(keys, width), 16) : 0;
  scoreStride = roundUp(packs ? std::min(keys, blockKeys) : keys, gemmPanel());
  scoreCount = blockRows * scoreStride;
  widensQuery = isNarrow(call.query.dtype);
  narrowsResult = isNarrow(call.result.dtype);
  if (batches * rows * keys * (depth + width) <= kFewProducts) threads = 1;
  if (packs) findPacks(call);
  // If there are enough heads, or only one block of rows in each, the thread that packs a head also runs it.
  packsTogether = packs && blocks > 1 && distinct.size() < static_cast<std::size_t>(2 * threads) && threads > 1;
  if (!packs) blocks = 1;
  hidesKeys = lastTermHides(call);
}

std::int64_t AttentionSizes::rowsOf(std::int64_t block) const {
  return std::min(blockRows, rows - block * blockRows);
}

std::int64_t AttentionSizes::batchOffset(const Ref& ref, std::int64_t batch) const {
  std::int64_t offset = 0;
  for (std::size_t i = rank - 2; i-- > 0;) {
    offset += batch % m_query[i] * ref.strides[i];
    batch /= m_query[i];
  }
  return offset;
}

std::int64_t AttentionSizes::packCount() const {
  if (!packs) return 0;
  return packsTogether ? static_cast<std::int64_t>(distinct.size()) : threads;
}

std::size_t AttentionSizes::rangeBytes() const {
  return hidesKeys ? roundUp(static_cast<std::size_t>(blocks) * sizeof(Keys), 64) : 0;
}

std::size_t AttentionSizes::termBytes() const {
  return roundUp(std::max<std::size_t>(1, m_terms) * sizeof(ScoreTermRows), 64);
}

// A thread has terms; scores; the largest score and the total of each row; and, if these are narrow floats, rows of the
// query and of the result.
std::size_t AttentionSizes::threadBytes() const {
  const std::int64_t wide = blockRows * ((widensQuery ? depth : 0) + (narrowsResult ? width : 0));
  return termBytes() + roundUp(static_cast<std::size_t>(scoreCount + 2 * blockRows + wide) * sizeof(float), 64);
}

std::size_t AttentionSizes::scratchBytes() const {
  return static_cast<std::size_t>(packCount() * (keyCount + valueCount)) * sizeof(float) + rangeBytes() +
         static_cast<std::size_t>(threads) * threadBytes();
}

/// Finds the distinct pairs of keys and values. The heads of a group read the same ones, which are packed once.
void AttentionSizes::findPacks(const AttentionCall& call) {
  std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> known;
  for (std::int64_t batch = 0; batch < batches; ++batch) {
    const auto [entry, isNew] = known.emplace(std::pair(batchOffset(call.key, batch), batchOffset(call.value, batch)),
                                              static_cast<std::int64_t>(distinct.size()));
    if (isNew) distinct.push_back(batch);
    packOf.push_back(entry->second);
  }
}

/// Returns whether the last term hides keys from rows in the same way in all batches. Only then are hidden keys
/// skipped.
bool AttentionSizes::lastTermHides(const AttentionCall& call) const {
  if (!packs || call.terms.empty() || keys <= gemmPanel()) return false;
  const ScoreTerm& last = call.terms.back();
  const bool adds = last.kind == ScoreTerm::Kind::Add && last.operand;
  const bool chooses = last.condition && !last.operand && last.number <= kReplaced;
  if (!adds && !chooses) return false;
  const Dims& strides = adds ? last.operand->strides : last.condition->strides;
  for (std::size_t i = 0; i + 2 < rank; ++i)
    if (strides[i] != 0 && m_query[i] != 1) return false;
  return strides.back() == 1;
}

}  // namespace fusescope::native
