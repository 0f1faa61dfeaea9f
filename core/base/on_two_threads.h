#pragma once

#include <cstddef>
#include <functional>

namespace fusescope {

/// Calls `work(i)` once for each i below `count`, in any order: on the calling thread and, if the machine has another
/// processor, on a second thread, which has ended when it returns. Two threads are enough for work that mostly reads or
/// writes memory. `work` is called by both threads at once and must not throw.
void onTwoThreads(std::size_t count, const std::function<void(std::size_t)>& work);

}  // namespace fusescope
