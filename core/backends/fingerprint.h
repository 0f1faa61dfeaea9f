#pragma once

#include <string>
#include <utility>
#include <vector>

namespace fusescope {

/// All that a time or a compiled artefact depends on, besides what was compiled and for how many threads: of the
/// machine that runs, whatever target a plan is for. Named parts, for people and for keys.
struct Fingerprint {
  std::vector<std::pair<std::string, std::string>> parts;  ///< name and text, in a fixed order
  std::string text() const;                                ///< "cpu: …; caches: …"
  bool operator==(const Fingerprint&) const = default;
};

/// What all backends have in common: CPU model, caches, cores, capabilities, compiler and build type, thread policy.
/// Asked once.
const Fingerprint& hostFingerprint();

}  // namespace fusescope
