#include "probe/probe_archive.h"

#include "probe/sha256.h"

namespace fusescope {

const std::string& probeVersion() {
  static const std::string kVersion = [] {
    Sha256 hash;
    hash.add(probeArchive());
    return hash.hex();
  }();
  return kVersion;
}

}  // namespace fusescope
