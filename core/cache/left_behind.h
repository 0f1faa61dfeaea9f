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

/// Does work on a thread of its own that is left behind where it takes longer than one waits: a system call on a mount
/// that hangs cannot be ended. Nothing more is begun while the one before still hangs, so that at most one thread is
/// behind. Used by one thread at a time.
class LeftBehind {
 public:
  /// What `work` gives. It must own all that it uses, since it may go on after this returned. Errors: its own; it takes
  /// too long.
  template <class Value>
  Result<Value> run(std::chrono::milliseconds limit, std::function<Result<Value>(Patience&)> work) {
    if (const auto last = m_last.lock()) return Diagnostic{.message = "it still hangs"};
    struct Shared {
      explicit Shared(std::chrono::milliseconds most) : patience(most) {}
      std::mutex mutex;
      std::condition_variable changed;
      Patience patience;
      std::optional<Result<Value>> value;
    };
    const auto shared = std::make_shared<Shared>(limit);
    auto hangs = std::make_shared<char>();
    m_last = hangs;
    auto whole = [shared, work = std::move(work), hangs = std::move(hangs)]() mutable {
      Result<Value> value = [&]() -> Result<Value> {
        try {
          return work(shared->patience);
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
      return Diagnostic{.message = std::string("there is no thread for it: ") + failed.what()};
    }
    std::unique_lock lock(shared->mutex);
    while (!shared->value && !shared->patience.isOver()) shared->changed.wait_until(lock, shared->patience.end());
    if (shared->value) return std::move(*shared->value);
    return Diagnostic{.message = "it takes too long"};
  }

 private:
  std::weak_ptr<void> m_last;
};

}  // namespace fusescope
