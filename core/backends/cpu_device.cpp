#include "backends/cpu_device.h"

#include <chrono>
#include <cstdlib>
#include <cstring>

#include "base/aligned_memory.h"

namespace fusescope {
namespace {

using Clock = std::chrono::steady_clock;

/// An event of the CPU, whose streams run work immediately: it is over as soon as it is recorded.
class CpuEvent final : public Event {
 public:
  void synchronise() const override {}
  double msSince(const Event& earlier) const override {
    const auto& before = static_cast<const CpuEvent&>(earlier);
    return std::chrono::duration<double, std::milli>(m_time - before.m_time).count();
  }
  void record() { m_time = Clock::now(); }

 private:
  Clock::time_point m_time;
};

class CpuStream final : public Stream {
 public:
  void copy(CopyDirection, const std::byte* from, std::byte* to, std::size_t bytes) override {
    if (bytes > 0) std::memcpy(to, from, bytes);
  }
  void record(Event& event) override { static_cast<CpuEvent&>(event).record(); }
  void wait(const Event& event) override { event.synchronise(); }
  std::optional<StepFailure> synchronise() override { return std::nullopt; }
};

class CpuDevice final : public Device {
 public:
  std::string_view name() const override { return "cpu"; }
  bool isHost() const override { return true; }
  std::byte* allocate(std::size_t bytes) const override { return allocateAligned(bytes); }
  void free(std::byte* memory) const noexcept override { std::free(memory); }
  std::unique_ptr<Stream> makeStream() const override { return std::make_unique<CpuStream>(); }
  std::unique_ptr<Event> makeEvent() const override { return std::make_unique<CpuEvent>(); }
};

}  // namespace

const Device& cpuDevice() {
  static const CpuDevice device;
  return device;
}

Stream& hostStream() {
  static CpuStream stream;
  return stream;
}

}  // namespace fusescope
