#include "session/runs/run_conditions.h"

#include <fmt/format.h>

#include <utility>

namespace fusescope {

std::vector<std::string> unlikeConditions(const Run& a, const Run& b) {
  std::vector<std::string> unlike;
  if (!a.time || !b.time) return unlike;
  const RunTime &timeOfA = *std::as_const(a.time), &timeOfB = *std::as_const(b.time);
  if (a.machine != b.machine) unlike.emplace_back("machine");
  if (timeOfA.threads != timeOfB.threads)
    unlike.push_back(fmt::format("threads: {} and {}", timeOfA.threads, timeOfB.threads));
  if (timeOfA.inputs != timeOfB.inputs)
    unlike.push_back(fmt::format("inputs: {} and {}", inWords(timeOfA.inputs), inWords(timeOfB.inputs)));
  if (a.extents != b.extents) unlike.emplace_back("extents of the inputs");
  return unlike;
}

}  // namespace fusescope
