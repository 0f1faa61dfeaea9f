#pragma once

namespace fusescope {

/// The largest number of threads that an engine accepts: more than any machine needs, and few enough to be started.
constexpr int kMostThreads = 1024;

/// Returns the number of logical processors that this process may use; at least 1.
int hardwareThreads();
/// Sets how many threads the parallel regions use that the calling thread enters; 0 or less means hardwareThreads().
void setThreads(int threads);
/// Lowers the priority of the calling thread, and of those that it starts from now on, below the other threads of the
/// process. This cannot be undone.
void yieldToOtherThreads();

}  // namespace fusescope
