#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "backends/native/steps/attention_call.h"

namespace fusescope::native {

/// The keys [begin, end).
struct Keys {
  std::int64_t begin = 0, end = 0;
};

/// The extents of an attention, how its rows, keys and batches are divided into blocks, which operands are packed, and
/// how much memory its threads need.
struct AttentionSizes {
  AttentionSizes(const AttentionCall& call, int mostThreads);

  std::size_t rank = 0;
  std::int64_t rows = 0, depth = 0, keys = 0, width = 0, batches = 1;
  std::int64_t blocks = 1, blockRows = 0, blockKeys = 0;
  std::int64_t keyCount = 0, valueCount = 0;     ///< elements of the packed keys and values of a batch
  std::int64_t scoreStride = 0, scoreCount = 0;  ///< elements of a row of scores, and of all scores of a block
  std::vector<std::int64_t> packOf, distinct;    ///< the number of the pack of each batch; the first batch of each pack
  bool packs = true;                             ///< keys and values are packed
  bool packsTogether = false;                    ///< all threads pack first; otherwise each packs what it runs
  bool hidesKeys = false;                        ///< the last term hides keys from rows in the same way in all batches
  bool rounds = false;                           ///< the weights are rounded, so that each block contains all keys
  bool widensQuery = false, narrowsResult = false;  ///< these are narrow floats
  int threads = 1;                                  ///< the number of threads that is used

  std::int64_t rowsOf(std::int64_t block) const;  ///< the number of rows of a block
  /// Returns the number of elements between the beginning of `ref` and its matrix of `batch`.
  std::int64_t batchOffset(const Ref& ref, std::int64_t batch) const;
  std::int64_t packCount() const;    ///< the number of packs that are in memory at the same time
  std::size_t rangeBytes() const;    ///< the memory of the visible keys of each block
  std::size_t termBytes() const;     ///< the memory of the terms of one thread
  std::size_t threadBytes() const;   ///< all memory of one thread
  std::size_t scratchBytes() const;  ///< all memory: packs, visible keys, threads

 private:
  void findPacks(const AttentionCall& call);
  bool lastTermHides(const AttentionCall& call) const;

  Dims m_query;  ///< the extents of the query
  std::size_t m_terms = 0;
};

}  // namespace fusescope::native
