#pragma once

#include <string>
#include <utility>
#include <vector>

namespace fusescope {

/// Everything on this machine that a time or compiled code depends on, in addition to what was compiled and the number
/// of threads. It does not depend on the target of a plan. It consists of named parts, for people and for keys.
struct Fingerprint {
  std::vector<std::pair<std::string, std::string>> parts;  ///< name and text, in a fixed order
  std::string text() const;                                ///< "cpu: …; caches: …"
  bool operator==(const Fingerprint&) const = default;
};

/// Returns the part that all backends share: CPU model, caches, cores, capabilities, compiler and build type, thread
/// policy. It is determined once.
const Fingerprint& hostFingerprint();

}  // namespace fusescope
