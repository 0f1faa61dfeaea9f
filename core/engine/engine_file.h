#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "engine/engine.h"

namespace fusescope {

/// What an engine file holds besides weights.
struct EngineContent {
  std::shared_ptr<const Plan> plan;
  std::string backend;
  std::string fingerprint;              ///< of the backend where it was built
  std::string version;                  ///< of the Fusescope that wrote it
  std::map<std::string, Dims> extents;  ///< that it was built for
  std::vector<TacticChoice> tactics;
};

/// Writes an engine file: all that is needed to run without the original model. Format: engine/FORMAT.md. Weights are
/// written from where they lie, never copied whole; the file appears whole or not at all.
Status writeEngineFile(const std::filesystem::path& path, const EngineContent& content);
/// Maps and checks one: magic, version, sizes, checksums. Its weights are views of the mapping. The plan is made again
/// from the stored graph and options; one that comes out differently from the stored one says so (build.replanned).
Result<EngineContent> readEngineFile(const std::filesystem::path& path);

}  // namespace fusescope
