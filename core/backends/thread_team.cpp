#include "backends/thread_team.h"

#include <fcntl.h>
#include <omp.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <mutex>
#include <string_view>
#include <thread>

namespace fusescope {
namespace {

constexpr double kNanosecondsPerMs = 1e6;
constexpr std::size_t kLongestLine = 128;

/// Returns the processor at index `place` of `set`, modulo their number.
cpu_set_t oneOf(const cpu_set_t& set, std::size_t place) {
  std::size_t left = place % static_cast<std::size_t>(CPU_COUNT(&set));
  cpu_set_t one;
  CPU_ZERO(&one);
  for (std::size_t cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &set) || left-- > 0) continue;
    CPU_SET(cpu, &one);
    break;
  }
  return one;
}

std::int64_t waitedNanoseconds(const Descriptor& schedstat) {
  std::array<char, kLongestLine> line{};
  const ssize_t size = ::pread(schedstat.number(), line.data(), line.size(), 0);
  if (size <= 0) return 0;
  const std::string_view text(line.data(), static_cast<std::size_t>(size));
  const std::size_t space = text.find(' ');
  std::int64_t waited = 0;
  if (space != std::string_view::npos) std::from_chars(text.data() + space + 1, text.data() + text.size(), waited);
  return waited;
}

}  // namespace

ThreadTeam::Member::Member(int place, int all)
    : thread(::gettid()),
      isPinned(all > 1 && ::sched_getaffinity(thread, sizeof before, &before) == 0 && CPU_COUNT(&before) > 0),
      schedstat(::open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC)) {
  if (!isPinned) return;
  const cpu_set_t own = oneOf(before, static_cast<std::size_t>(place));
  isPinned = ::sched_setaffinity(thread, sizeof own, &own) == 0;
}

ThreadTeam::ThreadTeam() {
  std::mutex mutex;  // `omp critical` would use one mutex for all teams
#pragma omp parallel
  {
    auto member = std::make_unique<Member>(omp_get_thread_num(), omp_get_num_threads());
    const std::lock_guard lock(mutex);
    m_members.push_back(std::move(member));
  }
}

ThreadTeam::~ThreadTeam() {
  for (const auto& member : m_members)
    if (member->isPinned) ::sched_setaffinity(member->thread, sizeof member->before, &member->before);
}

double ThreadTeam::waitedMs() const {
  std::int64_t sum = 0;
  for (const auto& member : m_members) sum += waitedNanoseconds(member->schedstat);
  return static_cast<double>(sum) / kNanosecondsPerMs;
}

void ThreadTeam::pause(std::chrono::microseconds time) {
#pragma omp parallel
  std::this_thread::sleep_for(time);
}

}  // namespace fusescope
