#include "engine/kernels/output_memory.h"

#include <algorithm>

#include "base/aligned_memory.h"
#include "base/sole_owner.h"

namespace fusescope {
namespace {

// The share by which a block is larger than what it is made for; the additional pages are not used before they are
// needed.
constexpr std::size_t kShareToGrow = 4;
constexpr std::size_t kLeastKept = 4096;  // in bytes; malloc is as fast for smaller blocks

}  // namespace

/// Returns the unused block that is nearest in size, if its size is between half of `bytes` and twice that.
OutputMemory::Block* OutputMemory::freeBlock(std::size_t bytes) {
  Block* best = nullptr;
  const auto distance = [bytes](const Block& block) {
    const std::size_t own = block.memory->bytes();
    return own < bytes ? bytes - own : own - bytes;
  };
  for (Block& block : m_blocks) {
    const std::size_t own = block.memory->bytes();
    if (!isSoleOwner(block.memory) || own > 2 * bytes || bytes > 2 * own) continue;
    if (best == nullptr || distance(block) < distance(*best)) best = &block;
  }
  return best;
}

Tensor OutputMemory::unwritten(DataType type, const Dims& dims) {
  if (bitWidth(type) % 8 != 0) return Tensor::zeros(type, dims);
  const std::size_t bytes = byteSize(type, elementCount(dims).value_or(0));
  if (bytes < kLeastKept) {
    const auto memory = std::make_shared<AlignedMemory>(std::max<std::size_t>(bytes, 1));
    return Tensor::view(type, dims, memory, memory->data());
  }
  const std::size_t room = bytes + bytes / kShareToGrow;
  Block* block = freeBlock(bytes);
  if (block == nullptr) {
    m_blocks.push_back({.memory = std::make_shared<PageMemory>(room)});
    block = &m_blocks.back();
  } else if (block->memory->bytes() < bytes) {
    block->memory->growTo(room);
  }
  block->served = true;
  return Tensor::view(type, dims, block->memory, block->memory->data());
}

void OutputMemory::trim() {
  std::erase_if(m_blocks, [](const Block& block) { return !block.served && block.memory.use_count() == 1; });
  for (Block& block : m_blocks) block.served = false;
}

std::size_t OutputMemory::bytes() const {
  std::size_t all = 0;
  for (const Block& block : m_blocks) all += block.memory->bytes();
  return all;
}

}  // namespace fusescope
