#pragma once

#include <list>
#include <memory>
#include <string>

#include "session/artifact.h"
#include "session/worker_protocol.h"

namespace fusescope::worker {

/// Keeps the artifacts and engines that were used last. Their keys are the request and the identities of all files from
/// which they were made, so that repeating a request costs nothing, and a file that was changed is read again. A
/// network that is asked for with other options is not read again, and a build takes over what earlier builds of it
/// found out. May be used in one thread only.
class EngineShelf {
 public:
  Result<Artifact> artifact(const WorkSource& source, const StopToken& stop, const Progress& progress);
  /// Returns an engine that the shelf owns; it exists at least until two other engines have been requested.
  Result<Engine*> engine(const WorkSource& source, const Artifact& artifact, const BuildOptions& options);

 private:
  struct KeptArtifact {
    std::string key;
    std::string network;  ///< the part of the key that is not about options: file and inputs
    Artifact held;
  };
  struct KeptEngine {
    std::string artifact;  ///< the key of the artifact from which it was built
    std::string key;
    std::unique_ptr<Engine> held;
  };
  std::list<KeptArtifact> m_artifacts;  ///< the newest is first
  std::list<KeptEngine> m_engines;      ///< the newest is first
};

}  // namespace fusescope::worker
