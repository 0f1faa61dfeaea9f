#pragma once

#include <condition_variable>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <system_error>
#include <thread>

#include "cache/shared_place.h"

namespace fusescope {

/// Runs work on a separate thread, which is abandoned if it takes longer than the caller wants to wait: a system call
/// on a hanging mount cannot be ended. No further work is started while an earlier one hangs, so that at most one
/// thread is abandoned. It may be used by one thread at a time.
class AbandonableWork {
 public:
  /// Returns the result of `work`. `work` must own everything that it uses, because it may continue after this call
  /// returned. Errors: those of `work`; it takes too long.
  template <class Value>
  Result<Value> run(std::chrono::milliseconds limit, std::function<Result<Value>(TransferDeadline&)> work) {
    if (const auto last = m_last.lock()) return Diagnostic{.message = "an earlier operation on it still hangs"};
    struct Shared {
      explicit Shared(std::chrono::milliseconds most) : deadline(most) {}
      std::mutex mutex;
      std::condition_variable changed;
      TransferDeadline deadline;
      std::optional<Result<Value>> value;
    };
    const auto shared = std::make_shared<Shared>(limit);
    auto hangs = std::make_shared<char>();
    m_last = hangs;
    auto whole = [shared, work = std::move(work), hangs = std::move(hangs)]() mutable {
      Result<Value> value = [&]() -> Result<Value> {
        try {
          return work(shared->deadline);
        } catch (const std::exception& failed) {
          return Diagnostic{.message = std::string("it failed: ") + failed.what()};
        }
      }();
      work = nullptr;
      const std::lock_guard lock(shared->mutex);
      hangs.reset();
      shared->value = std::move(value);
      shared->changed.notify_one();
    };
    try {
      std::thread(std::move(whole)).detach();
    } catch (const std::system_error& failed) {
      return Diagnostic{.message = std::string("no thread can be started for it: ") + failed.what()};
    }
    std::unique_lock lock(shared->mutex);
    while (!shared->value && !shared->deadline.isOver()) shared->changed.wait_until(lock, shared->deadline.end());
    if (shared->value) return std::move(*shared->value);
    return Diagnostic{.message = "it takes too long"};
  }

 private:
  std::weak_ptr<void> m_last;
};

}  // namespace fusescope
