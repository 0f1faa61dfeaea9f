#pragma once

#include <cstddef>
#include <vector>

#include "backends/device.h"
#include "engine/program/program.h"

namespace fusescope {

/// Memory for the arenas of several programs that never run at the same time. On each device it is as large as the
/// largest arena of these programs on that device.
class ArenaMemory {
 public:
  /// Makes room for the arenas of `program`. If more memory is needed, it may be moved, and its contents are lost.
  /// Throws std::bad_alloc.
  void fit(const Program& program);
  /// Returns the memory on `device`, which must be a device of a program that was passed to fit().
  std::byte* at(const Device& device) const;
  std::size_t bytes() const;  ///< Returns the size of the memory on all devices together.

 private:
  struct OnDevice {
    const Device* device;
    DeviceMemory memory;
  };
  std::vector<OnDevice> m_memory;
};

}  // namespace fusescope
