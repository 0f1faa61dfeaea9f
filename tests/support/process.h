#pragma once

#include <string>
#include <vector>

namespace fusescope::test {

struct ProcessResult {
  int status = -1;  ///< exit status, or 128 + the number of the signal that ended it
  std::string out;
  std::string err;
};

/// Runs a program and waits until it ends. `arguments[0]` is the program. No shell is involved.
ProcessResult runProcess(const std::vector<std::string>& arguments, const std::string& input = {});
/// Calls runProcess() for this build's `fusescope`.
ProcessResult fusescopeCommand(std::vector<std::string> arguments);

}  // namespace fusescope::test
