#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "base/page_memory.h"
#include "ir/tensor.h"

namespace fusescope {

/// Memory for the tensors that an engine returns. Blocks that nothing refers to any more are used again, and are
/// enlarged if they are slightly too small. So outputs that grow step by step rarely need new pages from the system,
/// and no pages beyond those that they fill. It may be used by one caller at a time; the tensors may be destroyed on
/// any thread.
class OutputMemory {
 public:
  /// Returns a tensor with undefined contents, which the caller must write completely. For a type narrower than a byte,
  /// the unused bits after the last element are zero. Throws std::bad_alloc.
  Tensor unwritten(DataType type, const Dims& dims);
  /// Frees the blocks that nothing refers to and that were not used since the last call.
  void trim();
  /// Returns the size of all its blocks, including pages that were never touched.
  std::size_t bytes() const;

 private:
  struct Block {
    std::shared_ptr<PageMemory> memory;
    bool served = false;  ///< since the last trim()
  };
  Block* freeBlock(std::size_t bytes);

  std::vector<Block> m_blocks;
};

}  // namespace fusescope
