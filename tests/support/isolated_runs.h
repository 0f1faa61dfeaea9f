#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace fusescope::test {

struct IsolationOptions {
  int jobs = 2;                      ///< number of processes at a time
  std::size_t itemsPerProcess = 64;  ///< limits how many later items are affected by what one item leaves behind
  double secondsPerItem = 20;
  std::size_t memoryBytes = 0;  ///< limit of the address space of a process; 0 means no limit
};

/// The result of one item.
struct IsolatedResult {
  std::string text;     ///< the text that the work returned
  std::string problem;  ///< "crashes" or "takes too long", if the work did not return
  std::string detail;   ///< details of the problem: the signal or status that ended the process
};

/// Calls `work(i)` for every i below `count` in child processes, so that an item that crashes or hangs fails alone. It
/// must be called before the program starts threads.
std::vector<IsolatedResult> runIsolated(std::size_t count, const std::function<std::string(std::size_t)>& work,
                                        const IsolationOptions& options);

}  // namespace fusescope::test
