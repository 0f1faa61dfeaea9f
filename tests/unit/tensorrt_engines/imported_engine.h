#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "frontends/tensorrt/engine_layers.h"
#include "session/import_engine.h"
#include "tests/support/paths.h"

// The engines of the shared folder, each with its network, which is written again: engine_networks.h.

namespace fusescope::test {

using Path = std::filesystem::path;

struct Engine {
  std::string name, layers, profile, times;
  std::string (*network)(const EngineLayers& layers);
};

const std::vector<Engine>& engines();
const Engine& engineNamed(const std::string& name);

/// A file of the shared folder of engines.
Path data(const std::string& file);
std::string textOf(const Path& path);

/// An engine of the shared folder over its network, which is written into a folder of its own.
class Imported {
 public:
  /// `layersText`: in place of the engine's own layer information.
  explicit Imported(const Engine& engine, const std::string& layersText = {});
  std::shared_ptr<const ReadBackPlan> read() const;
  const EngineLayers& layers() const { return m_layers; }
  const TemporaryFolder& folder() const { return m_folder; }
  EngineImport request;

 private:
  TemporaryFolder m_folder;
  EngineLayers m_layers;
};

}  // namespace fusescope::test
