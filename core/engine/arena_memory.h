#pragma once

#include <cstddef>
#include <vector>

#include "backends/device.h"
#include "engine/program.h"

namespace fusescope {

/// Memory for the arenas of programs that never run beside each other: on each device as much as the one that needs the
/// most there.
class ArenaMemory {
 public:
  /// Makes room for the arenas of `program`. Where there must be more, memory comes to lie elsewhere, and what it holds
  /// is lost. Throws std::bad_alloc.
  void fit(const Program& program);
  /// Of a device of a program that was fitted.
  std::byte* at(const Device& device) const;
  std::size_t bytes() const;  ///< on all devices

 private:
  struct OnDevice {
    const Device* device;
    DeviceMemory memory;
  };
  std::vector<OnDevice> m_memory;
};

}  // namespace fusescope
