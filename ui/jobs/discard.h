#pragma once

#include <QRunnable>
#include <QThreadPool>
#include <utility>

namespace fusescope {

/// Lets go of a value in another thread: what holds a plan of many nodes takes long to take apart.
template <class T>
void discard(T&& gone) {
  QThreadPool::globalInstance()->start(QRunnable::create([kept = std::decay_t<T>(std::exchange(gone, {}))]() mutable {
    const auto ends = std::move(kept);
    static_cast<void>(ends);
  }));
}

}  // namespace fusescope
