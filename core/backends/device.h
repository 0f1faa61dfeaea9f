#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string_view>

#include "base/result.h"

namespace fusescope {

/// A moment in the work of a stream. The stream records it anew in each run; between two runs nobody waits for it.
class Event {
 public:
  virtual ~Event() = default;
  /// Blocks the caller until the work before the event is done. Returns at once if it was never recorded.
  virtual void synchronise() const = 0;
  /// Returns the milliseconds since `earlier`, an event of the same device. Both events must be over.
  virtual double msSince(const Event& earlier) const = 0;
};

/// A failure of work that was put on a stream earlier.
struct StepFailure {
  std::size_t step = 0;  ///< the number that was passed to beginStep()
  Diagnostic error;
};

enum class CopyDirection { ToDevice, FromDevice, Within };

/// A queue of work on one device, which runs in order. It may be used by one caller at a time. Work may run long after
/// the call that added it, so that the memory that it reads and writes must stay valid until a later event is over.
class Stream {
 public:
  virtual ~Stream() = default;
  virtual void copy(CopyDirection direction, const std::byte* from, std::byte* to, std::size_t bytes) = 0;
  /// Records `event`, which must be of this device.
  virtual void record(Event& event) = 0;
  /// Lets work that is added later begin only after `event`, of any device, is over. May block the caller until then.
  virtual void wait(const Event& event) = 0;
  /// Blocks until all work is done. Returns the first failure since the last call; work that was added after the failed
  /// one may not have run.
  virtual std::optional<StepFailure> synchronise() = 0;
  /// Sets the step number that failures report for work that is added from now on.
  void beginStep(std::size_t step) { m_step = step; }

 protected:
  std::size_t step() const { return m_step; }

 private:
  std::size_t m_step = 0;
};

/// Memory and a processor that runs code in it. It is const and thread-safe, and lives as long as the process.
class Device {
 public:
  virtual ~Device() = default;
  virtual std::string_view name() const = 0;
  /// Returns whether its memory is that of the process and its streams run work at once in the caller's thread. The
  /// memory of other devices is accessed only by copies.
  virtual bool isHost() const { return false; }
  /// Returns memory that is aligned to 64 bytes and not initialised. Throws std::bad_alloc.
  virtual std::byte* allocate(std::size_t bytes) const = 0;
  virtual void free(std::byte* memory) const noexcept = 0;
  virtual std::unique_ptr<Stream> makeStream() const = 0;
  virtual std::unique_ptr<Event> makeEvent() const = 0;
};

/// Memory of a device, which is freed when this object is destroyed.
class DeviceMemory {
 public:
  DeviceMemory(const Device& device, std::size_t bytes)
      : m_data(device.allocate(bytes), Free{&device}), m_bytes(bytes) {}
  std::byte* data() const { return m_data.get(); }
  std::size_t bytes() const { return m_bytes; }
  /// Makes the memory at least `bytes` large. If it has to grow, its contents are lost.
  void atLeast(std::size_t bytes) {
    if (bytes > m_bytes) *this = DeviceMemory(*m_data.get_deleter().device, bytes);
  }

 private:
  struct Free {
    const Device* device;
    void operator()(std::byte* memory) const { device->free(memory); }
  };
  std::unique_ptr<std::byte, Free> m_data;
  std::size_t m_bytes;
};

}  // namespace fusescope
