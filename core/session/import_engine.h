#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include "session/artifact.h"
#include "session/open_model.h"
#include "session/runs/run.h"

namespace fusescope {

/// Files of an engine that was built elsewhere, by kind. They are recognised by their content. All except `layers` are
/// TensorRT's.
struct EngineFilePaths {
  /// Layer information (--exportLayerInfo, --dumpLayerInfo, IEngineInspector), or files of an earlier TorchInductor
  /// compilation (frontends/torch/inductor_build.h).
  std::filesystem::path layers;
  std::filesystem::path profile;  ///< times by layer: --exportProfile, --dumpProfile; empty: none
  std::filesystem::path times;    ///< times of runs: --exportTimes; empty: none
  std::filesystem::path log;      ///< log of a verbose build; empty: none
};

struct EngineImport {
  /// The network that the engine was built from: an ONNX file, or for TorchInductor an exported program. Empty: the
  /// network is drawn from the layers of TensorRT.
  std::filesystem::path model;
  EngineFilePaths files;
  std::vector<InputOverride> inputs{};  ///< extents that the user gives; other extents are those of the engine
  /// What the build was asked for, as far as it is not in the log. A target of "cpu" is replaced by the target for the
  /// engine's version; empty precisions and directives are replaced by those in the log.
  PlanOptions options{};
  /// true: open extents of the network get those of the engine. The window sets this to false, in order to keep its
  /// open network.
  bool atExtentsOfEngine = true;
};

/// Reads an engine's files as a read-back plan of the network. Nothing is built, run or timed. May run on any thread.
/// Errors: a file cannot be read or has another format (located); the network cannot be planned; there is no model, and
/// the files contain only names of layers or kernels of TorchInductor.
Result<Artifact> importEngine(const EngineImport& request, const StopToken& stop = {}, const Progress& progress = {});

/// The result of rebuilding a network from a log.
struct RebuiltNetwork {
  std::int64_t nodes = 0, weights = 0;
  std::int64_t unknown = 0;  ///< nodes for which the log does not contain everything that their operators need
};
/// Writes the network in the build log at `log` as an ONNX file at `path`; see networkOfLog().
Result<RebuiltNetwork> rebuildNetwork(const std::filesystem::path& log, const std::filesystem::path& path);

/// Returns the run for such a plan in a session, with the times in the files, for the device that they name. The caller
/// sets its id, name and model.
Run engineRun(const Artifact& artifact);

/// Returns whether the run is such a run: it was read from files, and nothing ran on this machine.
bool isReadFromFiles(const Run& run);

/// Returns which of the files that sortEngineFiles() sorts `path` is; nothing if it is none. The whole file is read
/// only if its first character does not decide.
std::optional<EngineFilePaths> fileOfEngine(const std::filesystem::path& path);
/// Returns whether `path` lists the layers of an engine, judged by its beginning.
bool listsEngineLayers(const std::filesystem::path& path);

/// Sorts files that were given together (dropped on the window) by their content. Errors, with locations: a file is of
/// no such kind, or two are of the same kind.
Result<EngineFilePaths> sortEngineFiles(const std::vector<std::filesystem::path>& files);

}  // namespace fusescope
