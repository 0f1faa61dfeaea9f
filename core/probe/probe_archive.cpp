#include "probe/probe_archive.h"

#include "probe/sha256.h"

namespace fusescope {

const std::string& probeVersion() {
  static const std::string kVersion = sha256OfText(probeArchive());
  return kVersion;
}

}  // namespace fusescope
