#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace fusescope::test {

struct IsolationOptions {
  int jobs = 2;                      ///< processes at a time
  std::size_t itemsPerProcess = 64;  ///< what one item leaves behind meets few others
  double secondsPerItem = 20;
  std::size_t memoryBytes = 0;  ///< address space of a process; 0: no limit
};

/// What became of one item.
struct IsolatedResult {
  std::string text;     ///< what the work returned
  std::string problem;  ///< set where it did not return: "crashes", "takes too long"
  std::string detail;   ///< of the problem: the signal or status that ended the process
};

/// Calls `work(i)` for every i below `count` in child processes, so that an item that crashes or hangs fails alone.
/// To be called before the program has threads.
std::vector<IsolatedResult> runIsolated(std::size_t count, const std::function<std::string(std::size_t)>& work,
                                        const IsolationOptions& options);

}  // namespace fusescope::test
