#pragma once

#include <string>

namespace fusescope {

/// A place where compilers may be: a Python on this machine, in a container or on another machine.
struct Environment {
  std::string name;         ///< what the user calls it: "python3", "venv", "gpubox"
  std::string command;      ///< starts Python: "python3", "ssh gpubox python3"; words as a shell would part them
  bool keepsFiles = false;  ///< networks that are sent there may be kept there, in a cache with a limit
  bool operator==(const Environment&) const = default;
};

}  // namespace fusescope
