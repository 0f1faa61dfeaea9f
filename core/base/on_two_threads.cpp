#include "base/on_two_threads.h"

#include <atomic>
#include <optional>
#include <system_error>
#include <thread>

namespace fusescope {

void onTwoThreads(std::size_t count, const std::function<void(std::size_t)>& work) {
  std::atomic<std::size_t> next = 0;
  const auto takeAll = [&] {
    for (std::size_t i = next++; i < count; i = next++) work(i);
  };
  std::optional<std::jthread> helper;
  if (count > 1 && std::thread::hardware_concurrency() > 1) try {
      helper.emplace(takeAll);
    } catch (const std::system_error&) {
      // There are no more threads: this one works alone.
    }
  takeAll();
}

}  // namespace fusescope
