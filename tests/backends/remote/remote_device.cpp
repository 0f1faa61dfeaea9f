#include "tests/backends/remote/remote_device.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <new>
#include <random>
#include <thread>

namespace fusescope {
namespace {

constexpr int kPoison = 0xAB;
constexpr int kMostDelay = 300;  // µs
using Clock = std::chrono::steady_clock;
std::atomic<std::int64_t> workDone{0};
std::int64_t awaitedWork = -1;
std::function<void()> thenCalled;

/// Blocks of memory: the address that is handed out, and where its bytes are.
class Blocks {
 public:
  std::byte* allocate(std::size_t bytes) {
    const std::size_t size = std::max<std::size_t>(bytes, 1);
    const int file = ::memfd_create("remote", 0);
    if (file < 0 || ::ftruncate(file, static_cast<off_t>(size)) != 0) throw std::bad_alloc();
    void* guarded = ::mmap(nullptr, size, PROT_NONE, MAP_SHARED, file, 0);
    void* real = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    ::close(file);
    if (guarded == MAP_FAILED || real == MAP_FAILED) throw std::bad_alloc();
    std::memset(real, kPoison, size);
    const std::lock_guard lock(m_mutex);
    m_blocks[static_cast<std::byte*>(guarded)] = {static_cast<std::byte*>(real), size};
    return static_cast<std::byte*>(guarded);
  }

  void free(std::byte* address) {
    const std::lock_guard lock(m_mutex);
    const auto found = m_blocks.find(address);
    ::munmap(found->first, found->second.size);
    ::munmap(found->second.real, found->second.size);
    m_blocks.erase(found);
  }

  std::byte* bytes(const std::byte* address) {
    const std::lock_guard lock(m_mutex);
    auto after = m_blocks.upper_bound(const_cast<std::byte*>(address));
    if (after == m_blocks.begin()) return nullptr;
    const auto& [start, block] = *--after;
    const auto offset = static_cast<std::size_t>(address - start);
    return offset < block.size ? block.real + offset : nullptr;
  }

 private:
  struct Block {
    std::byte* real;
    std::size_t size;
  };
  std::mutex m_mutex;
  std::map<std::byte*, Block> m_blocks;
};

Blocks& blocks() {
  static Blocks all;
  return all;
}

class RemoteEvent final : public Event {
 public:
  void synchronise() const override { waitUntil(recorded()); }
  double msSince(const Event& earlier) const override {
    return std::chrono::duration<double, std::milli>(m_time - static_cast<const RemoteEvent&>(earlier).m_time).count();
  }

  /// How often it was recorded so far.
  std::int64_t recorded() const {
    const std::lock_guard lock(m_mutex);
    return m_recorded;
  }
  void record() {
    const std::lock_guard lock(m_mutex);
    ++m_recorded;
  }
  void happen() {
    const std::lock_guard lock(m_mutex);
    ++m_happened;
    m_time = Clock::now();
    m_changed.notify_all();
  }
  void waitUntil(std::int64_t recorded) const {
    std::unique_lock lock(m_mutex);
    m_changed.wait(lock, [&] { return m_happened >= recorded; });
  }

 private:
  mutable std::mutex m_mutex;
  mutable std::condition_variable m_changed;
  std::int64_t m_recorded = 0, m_happened = 0;
  Clock::time_point m_time;
};

class RemoteStream final : public Stream {
 public:
  RemoteStream() : m_delays(++streams()), m_thread([this] { work(); }) {}
  ~RemoteStream() override {
    {
      const std::lock_guard lock(m_mutex);
      m_isClosing = true;
      m_changed.notify_all();
    }
    m_thread.join();
  }

  void copy(CopyDirection direction, const std::byte* from, std::byte* to, std::size_t bytes) override {
    enqueue([=]() -> Status {
      const std::byte* source = direction == CopyDirection::ToDevice ? from : TRY(remoteBytes(from));
      std::byte* sink = direction == CopyDirection::FromDevice ? to : TRY(remoteBytes(to));
      if (bytes > 0) std::memcpy(sink, source, bytes);
      return Done{};
    });
  }
  void record(Event& event) override {
    auto& own = static_cast<RemoteEvent&>(event);
    own.record();
    push({.run = [&own]() -> Status {
            own.happen();
            return Done{};
          },
          .always = true});
  }
  void wait(const Event& event) override {
    const auto* own = dynamic_cast<const RemoteEvent*>(&event);
    if (own == nullptr) return event.synchronise();
    push({.run = [own, recorded = own->recorded()]() -> Status {
            own->waitUntil(recorded);
            return Done{};
          },
          .always = true});
  }
  std::optional<StepFailure> synchronise() override {
    std::unique_lock lock(m_mutex);
    m_changed.wait(lock, [&] { return m_work.empty() && !m_isWorking; });
    return std::exchange(m_failure, std::nullopt);
  }
  void enqueue(std::function<Status()> run) { push({.run = std::move(run), .step = step()}); }

 private:
  struct Work {
    std::function<Status()> run;
    std::size_t step = 0;
    bool always = false;  ///< also behind a failure
  };

  static std::uint32_t& streams() {
    static thread_local std::uint32_t count = 0;
    return count;
  }

  void push(Work work) {
    const std::lock_guard lock(m_mutex);
    m_work.push_back(std::move(work));
    m_changed.notify_all();
  }

  void work() {
    std::unique_lock lock(m_mutex);
    for (;;) {
      m_changed.wait(lock, [&] { return !m_work.empty() || m_isClosing; });
      if (m_work.empty()) return;
      const Work next = std::move(m_work.front());
      m_work.pop_front();
      if (m_failure && !next.always) continue;
      m_isWorking = true;
      lock.unlock();
      if (!next.always) std::this_thread::sleep_for(std::chrono::microseconds(m_delays() % kMostDelay));
      Status status = next.run();
      lock.lock();
      m_isWorking = false;
      if (!status.ok()) m_failure = StepFailure{next.step, std::move(status).error()};
      m_changed.notify_all();
    }
  }

  std::mutex m_mutex;
  std::condition_variable m_changed;
  std::deque<Work> m_work;
  std::optional<StepFailure> m_failure;
  bool m_isWorking = false, m_isClosing = false;
  std::minstd_rand m_delays;
  std::thread m_thread;
};

class RemoteDevice final : public Device {
 public:
  std::string_view name() const override { return "remote"; }
  std::byte* allocate(std::size_t bytes) const override { return blocks().allocate(bytes); }
  void free(std::byte* memory) const noexcept override { blocks().free(memory); }
  std::unique_ptr<Stream> makeStream() const override { return std::make_unique<RemoteStream>(); }
  std::unique_ptr<Event> makeEvent() const override { return std::make_unique<RemoteEvent>(); }
};

}  // namespace

const Device& remoteDevice() {
  blocks();  // goes later than the device
  static const RemoteDevice device;
  return device;
}

Result<std::byte*> remoteBytes(const std::byte* address) {
  std::byte* bytes = blocks().bytes(address);
  if (bytes != nullptr) return bytes;
  return Diagnostic{.message = "an address that is none of the remote device's"};
}

void enqueueRemote(Stream& stream, std::function<Status()> work) {
  static_cast<RemoteStream&>(stream).enqueue([work = std::move(work)]() -> Status {
    TRY(work());
    if (++workDone == awaitedWork) thenCalled();
    return Done{};
  });
}

std::int64_t remoteWorkDone() {
  return workDone;
}

void atRemoteWork(std::int64_t count, std::function<void()> then) {
  awaitedWork = count;
  thenCalled = std::move(then);
}

}  // namespace fusescope
