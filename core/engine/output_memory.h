#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "base/page_memory.h"
#include "ir/tensor.h"

namespace fusescope {

/// Memory of the tensors that an engine hands out. What nobody holds any more is used again, and grows where it is a
/// little too small, so that outputs that grow step by step make the system give pages once, and none that they do not
/// fill. One caller at a time; the tensors may be dropped anywhere.
class OutputMemory {
 public:
  /// A tensor that will be written as a whole; of a type narrower than a byte, but for bits behind its last element.
  /// Throws std::bad_alloc.
  Tensor unwritten(DataType type, const Dims& dims);
  /// Gives back what nobody holds and did not serve since the last call.
  void trim();
  /// Of the blocks that it keeps or somebody holds, pages that nobody touched included.
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
