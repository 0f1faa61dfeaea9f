#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace fusescope {

/// What a listener imports as soon as it is started, in a separate process, for the first job of `compiler`.
struct ImportAhead {
  std::string compiler;  ///< empty: nothing
  std::string what;      ///< what importedAhead() returns for it (probe_archive.h)
};

/// Limits for processes that are started in an environment.
struct ProbeOptions {
  std::chrono::milliseconds handshake{20'000};     ///< for Python to answer, also over ssh
  std::chrono::milliseconds open{300'000};         ///< for importing a compiler
  std::chrono::milliseconds silence{30'000};       ///< time without a message after which each side assumes that the
                                                   ///< other is gone
  std::optional<std::int64_t> memoryBytes{};       ///< in place of Environment::memoryBytes
  std::int64_t keptBytes = std::int64_t{8} << 30;  ///< limit of the file cache if Environment::keepsFiles is set
  ImportAhead ahead{};
};

}  // namespace fusescope
