#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string_view>

#include "base/result.h"

namespace fusescope {

/// A moment in the work of a stream: recorded by it, anew in each run. Between two runs nobody waits for it.
class Event {
 public:
  virtual ~Event() = default;
  /// Blocks the caller until the work before it is done; at once if it was never recorded.
  virtual void synchronise() const = 0;
  /// Milliseconds from `earlier`, an event of the same device. Both are over.
  virtual double msSince(const Event& earlier) const = 0;
};

/// What went wrong in work that was enqueued before.
struct StepFailure {
  std::size_t step = 0;  ///< as beginStep() called it
  Diagnostic error;
};

enum class CopyDirection { ToDevice, FromDevice, Within };

/// Work on one device, in order. Of one caller at a time. Work may be done long after the call that enqueued it: what
/// it reads and writes stays until an event behind it is over.
class Stream {
 public:
  virtual ~Stream() = default;
  virtual void copy(CopyDirection direction, const std::byte* from, std::byte* to, std::size_t bytes) = 0;
  /// `event`: of this device.
  virtual void record(Event& event) = 0;
  /// What is enqueued later begins when `event`, of any device, is over. May block the caller until then.
  virtual void wait(const Event& event) = 0;
  /// Blocks until all is done. The first failure since the last call; what was enqueued behind it may not have run.
  virtual std::optional<StepFailure> synchronise() = 0;
  /// What is enqueued from now on is called so in failures.
  void beginStep(std::size_t step) { m_step = step; }

 protected:
  std::size_t step() const { return m_step; }

 private:
  std::size_t m_step = 0;
};

/// Something with memory that runs code. Const and thread-safe; lives as long as the process.
class Device {
 public:
  virtual ~Device() = default;
  virtual std::string_view name() const = 0;
  /// Whether its memory is the process's own, and its streams run at once, in the caller's thread. Memory of others is
  /// reached by copies alone.
  virtual bool isHost() const { return false; }
  /// Aligned to 64 bytes, not initialised. Throws std::bad_alloc.
  virtual std::byte* allocate(std::size_t bytes) const = 0;
  virtual void free(std::byte* memory) const noexcept = 0;
  virtual std::unique_ptr<Stream> makeStream() const = 0;
  virtual std::unique_ptr<Event> makeEvent() const = 0;
};

/// Memory of a device, for as long as this lives.
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
