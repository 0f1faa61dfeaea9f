#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

namespace fusescope {

/// The physical memory of this process, in bytes. It includes pages of mapped files, even if other processes share
/// them.
struct ProcessMemory {
  std::int64_t peakResident = 0;  ///< the maximum since the program started
  std::int64_t resident = 0;      ///< now
  std::int64_t mapped = 0;        ///< the part of `resident` that is pages of mapped files
};

/// Returns nothing if the system does not provide these numbers.
std::optional<ProcessMemory> processMemory();

/// Returns the most bytes that one block of memory may have on this machine: the physical memory, or what this process
/// may use if that is less. A process that allocated more would be ended by the system when it wrote to the block.
std::size_t mostMemory();

/// Returns freed memory to the system. Allocators may otherwise keep gigabytes after many tensors were freed.
void returnFreedMemory();

}  // namespace fusescope
