#pragma once

#include <string>
#include <vector>

namespace fusescope::test {

struct ProcessResult {
  int status = -1;  ///< exit status; 128 + signal if a signal ended it
  std::string out;
  std::string err;
};

/// Runs a program and waits. `arguments[0]` is the program. No shell is involved.
ProcessResult runProcess(const std::vector<std::string>& arguments, const std::string& input = {});
/// runProcess on this build's `fusescope`.
ProcessResult fusescopeCommand(std::vector<std::string> arguments);

}  // namespace fusescope::test
