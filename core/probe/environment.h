#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace fusescope {

/// A Python installation in which compilers may be: on this machine, in a container or on another machine.
struct Environment {
  std::string name;         ///< the name that the user gave it: "python3", "venv", "gpubox"
  std::string command;      ///< the command that starts Python: "python3", "ssh gpubox python3"; see commandWords()
  bool keepsFiles = false;  ///< networks that are sent there may be kept there, in a cache of limited size
  /// The most memory that a process of a compiler may allocate there, in bytes; 0: no limit; nothing: three quarters of
  /// the machine's memory.
  std::optional<std::int64_t> memoryBytes{};
  bool operator==(const Environment&) const = default;
};

}  // namespace fusescope
