#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include "session/run.h"
#include "session/session.h"

namespace fusescope {

/// Files of an engine that others built, by what they are; they are recognised by their content. All but `layers` are
/// TensorRT's.
struct EngineFilePaths {
  /// Layer information: --exportLayerInfo, --dumpLayerInfo, IEngineInspector. Or what TorchInductor compiled before:
  /// frontends/torch/inductor_build.h.
  std::filesystem::path layers;
  std::filesystem::path profile;  ///< times by layer: --exportProfile, --dumpProfile; empty: none
  std::filesystem::path times;    ///< times of runs: --exportTimes; empty: none
  std::filesystem::path log;      ///< of a verbose build; empty: none
};

struct EngineImport {
  /// The network that it was built from: an ONNX file, of TorchInductor an exported program. Empty: the network is
  /// drawn from the layers of TensorRT.
  std::filesystem::path model;
  EngineFilePaths files;
  std::vector<InputOverride> inputs{};  ///< extents that the user gives; others are those of the engine
  /// What was asked for, as far as it is not in the log: a target of "cpu" becomes the one of the engine's version, no
  /// precisions and directives those that the log names.
  PlanOptions options{};
  /// Where the network leaves extents open and the engine does not, it is opened at the engine's. The window keeps the
  /// network that it has open.
  bool atExtentsOfEngine = true;
};

/// What the files tell of the network, as a plan that was read back. Nothing is built, run or timed. Any thread.
/// Errors: a file cannot be read, or is not what it should be (located); the network cannot be planned; only names of
/// layers are told, or kernels of TorchInductor, and there is no model.
Result<Artifact> importEngine(const EngineImport& request, const StopToken& stop = {}, const Progress& progress = {});

/// What came of a network that was rebuilt from a log.
struct RebuiltNetwork {
  std::int64_t nodes = 0, weights = 0;
  std::int64_t unknown = 0;  ///< nodes of which the log does not say all that their operators need
};
/// Writes the network that the log of a build at `log` tells of as an ONNX file at `path`: networkOfLog().
Result<RebuiltNetwork> rebuildNetwork(const std::filesystem::path& log, const std::filesystem::path& path);

/// The run that such a plan is in a session: with the times that the files tell, of the device that they name. Its id,
/// name and model are the caller's to give.
Run engineRun(const Artifact& artifact);

/// Whether the run is such a one: what it holds was read from files, and nothing was run here.
bool isReadFromFiles(const Run& run);

/// Whether the network was made of the layers of an engine.
bool isOfEngineLayers(const Model& model);

/// Which of the files that sortEngineFiles() sorts `path` is; nothing: it is none. It is read as a whole where its
/// first character leaves that open.
std::optional<EngineFilePaths> fileOfEngine(const std::filesystem::path& path);
/// Whether `path` lists the layers of an engine, by its beginning.
bool listsEngineLayers(const std::filesystem::path& path);

/// Sorts files that were given together (dropped on the window) by what is in them. Errors, located: one is none of
/// these, or two are the same.
Result<EngineFilePaths> sortEngineFiles(const std::vector<std::filesystem::path>& files);

}  // namespace fusescope
