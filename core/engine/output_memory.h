#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "base/aligned_memory.h"
#include "ir/tensor.h"

namespace fusescope {

/// Memory of the tensors that an engine hands out. What nobody holds any more is used again, so that outputs that grow
/// step by step seldom make the system give and clear pages. One caller at a time; the tensors may be dropped anywhere.
class OutputMemory {
 public:
  /// A tensor that will be written as a whole; of a type narrower than a byte, but for bits behind its last element.
  /// Throws std::bad_alloc.
  Tensor unwritten(DataType type, const Dims& dims);
  /// Gives back what nobody holds and did not serve since the last call.
  void trim();

 private:
  struct Block {
    std::shared_ptr<AlignedMemory> memory;
    std::size_t bytes = 0;
    bool served = false;  ///< since the last trim()
  };
  std::vector<Block> m_blocks;
};

}  // namespace fusescope
