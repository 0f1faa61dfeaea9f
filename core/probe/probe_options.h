#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace fusescope {

/// What a listener that is started imports at once, in a process of its own, for the first job of `compiler`.
struct ImportAhead {
  std::string compiler;  ///< empty: nothing
  std::string what;      ///< as importedAhead() has it (probe_archive.h)
};

/// Limits of what is started in an environment.
struct ProbeOptions {
  std::chrono::milliseconds handshake{20'000};     ///< until Python answers, also over ssh
  std::chrono::milliseconds open{300'000};         ///< until a compiler is imported
  std::chrono::milliseconds silence{30'000};       ///< without a word, after which each side takes the other to be gone
  std::optional<std::int64_t> memoryBytes{};       ///< of address space that a job may have; none: as much as there is
  std::int64_t keptBytes = std::int64_t{8} << 30;  ///< of the cache of files where Environment::keepsFiles
  ImportAhead ahead{};
};

}  // namespace fusescope
