#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

namespace fusescope {

/// Physical memory of this process, in bytes. Pages of mapped files count, whoever else has them.
struct ProcessMemory {
  std::int64_t peakResident = 0;  ///< the most that there was at once since the program started
  std::int64_t resident = 0;      ///< now
  std::int64_t mapped = 0;        ///< of `resident`: pages of mapped files
};

/// Nothing where the system does not tell.
std::optional<ProcessMemory> processMemory();

/// The most bytes that one block of memory may have here: what the machine has, or this process is allowed. Who asks
/// for more would be ended by the system once it wrote to them.
std::size_t mostMemory();

/// Gives memory that was freed back to the system: allocators may keep gigabytes where many tensors come and go.
void returnFreedMemory();

}  // namespace fusescope
