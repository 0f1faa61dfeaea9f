#include "engine/output_memory.h"

#include <algorithm>
#include <atomic>

namespace fusescope {
namespace {

constexpr std::size_t kShareToGrow = 32;  // of a block, beyond what it is made for
constexpr std::size_t kLeastKept = 4096;  // bytes; less is as quickly had of malloc

}  // namespace

Tensor OutputMemory::unwritten(DataType type, const Dims& dims) {
  if (bitWidth(type) % 8 != 0) return Tensor::zeros(type, dims);
  const std::size_t bytes = byteSize(type, elementCount(dims).value_or(0));
  const auto view = [&](const std::shared_ptr<AlignedMemory>& memory) {
    return Tensor::view(type, dims, memory, memory->data());
  };
  if (bytes < kLeastKept) return view(std::make_shared<AlignedMemory>(std::max<std::size_t>(bytes, 1)));
  for (Block& block : m_blocks) {
    if (block.memory.use_count() != 1 || block.bytes < bytes || block.bytes > 2 * bytes) continue;
    std::atomic_thread_fence(std::memory_order_acquire);  // whoever dropped it is done with reading
    block.served = true;
    return view(block.memory);
  }
  const std::size_t room = bytes + bytes / kShareToGrow;
  m_blocks.push_back({std::make_shared<AlignedMemory>(room), room, true});
  return view(m_blocks.back().memory);
}

void OutputMemory::trim() {
  std::erase_if(m_blocks, [](const Block& block) { return !block.served && block.memory.use_count() == 1; });
  for (Block& block : m_blocks) block.served = false;
}

}  // namespace fusescope
