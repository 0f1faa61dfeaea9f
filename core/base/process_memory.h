#pragma once

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

/// Gives memory that was freed back to the system: the C library may keep gigabytes where many tensors come and go.
void returnFreedMemory();

}  // namespace fusescope
