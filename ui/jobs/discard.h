#pragma once

#include <QRunnable>
#include <QThreadPool>
#include <utility>

namespace fusescope {

/// Destroys a value on another thread, because destroying a plan with many nodes takes long.
template <class T>
void discard(T&& gone) {
  QThreadPool::globalInstance()->start(QRunnable::create([kept = std::decay_t<T>(std::exchange(gone, {}))]() mutable {
    const auto ends = std::move(kept);
    static_cast<void>(ends);
  }));
}

}  // namespace fusescope
