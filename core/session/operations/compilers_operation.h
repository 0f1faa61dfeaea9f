#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "session/operations/option.h"

namespace fusescope {

/// Which environments `compilers` asks.
struct CompilersSettings {
  std::string command;  ///< the only one that is asked: its name, or a command that starts Python; empty: all
  bool listsOptions = false;

  std::vector<Option> options();
};

/// The environment that `compilers add` adds.
struct CompilersAddSettings {
  std::string name, command;
  std::optional<std::int64_t> memoryBytes;  ///< as Environment::memoryBytes
  bool keepsFiles = false;

  std::vector<Option> options();
};

/// The environment that `compilers remove` removes.
struct CompilersRemoveSettings {
  std::string name;

  std::vector<Option> options();
};

}  // namespace fusescope
