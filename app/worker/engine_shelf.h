#pragma once

#include <list>
#include <memory>
#include <string>

#include "session/artifact.h"
#include "session/worker_protocol.h"

namespace fusescope::worker {

/// The artifacts and engines that were used last, by what was asked for and the identities of all files that they were
/// made of: asking again for the same costs nothing, and what is on disk now is what is answered for. A network that is
/// asked for with other options is not read again, and what earlier builds of it found out is taken over. One thread.
class EngineShelf {
 public:
  Result<Artifact> artifact(const WorkSource& source, const StopToken& stop, const Progress& progress);
  /// Owned by the shelf; stays at least until two further engines were asked for.
  Result<Engine*> engine(const WorkSource& source, const Artifact& artifact, const BuildOptions& options);

 private:
  struct KeptArtifact {
    std::string key;
    std::string network;  ///< the part of the key that is not about options: file and inputs
    Artifact held;
  };
  struct KeptEngine {
    std::string artifact;  ///< the key of what it was built of
    std::string key;
    std::unique_ptr<Engine> held;
  };
  std::list<KeptArtifact> m_artifacts;  ///< newest first
  std::list<KeptEngine> m_engines;      ///< newest first
};

}  // namespace fusescope::worker
