#pragma once

namespace fusescope {

/// So many threads an engine may be asked for: more than any machine has that runs one, and few enough to be started.
constexpr int kMostThreads = 1024;

/// Logical processors that this process may use; at least 1.
int hardwareThreads();
/// How many threads the parallel regions that the calling thread enters will use; 0 or less: hardwareThreads().
void setThreads(int threads);
/// Lets all other threads of the process run before the calling one and those that it starts from now on. It cannot be
/// taken back.
void yieldToOtherThreads();

}  // namespace fusescope
