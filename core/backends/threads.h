#pragma once

namespace fusescope {

/// Logical processors that this process may use; at least 1.
int hardwareThreads();
/// How many threads the parallel regions that the calling thread enters will use; 0 or less: hardwareThreads().
void setThreads(int threads);

}  // namespace fusescope
