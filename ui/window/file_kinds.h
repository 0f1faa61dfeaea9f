#pragma once

#include <QString>
#include <optional>

namespace fusescope {

/// What somebody may open, or drop on the window.
enum class FileKind {
  Network,       ///< or whatever else takes the place of the document: a plan, a session
  Engine,        ///< one of ours
  Inputs,        ///< of a run
  Ranges,        ///< of values, for int8
  Directives,    ///< of Fusescope
  JobResult,     ///< what a job file brought back
  EngineFile,    ///< of an engine that others built: TensorRT's profile, times or log, kernels of TorchInductor
  EngineLayers,  ///< the layers of such an engine, which are a network where none is open
  EngineLog,     ///< the log of its build, which lists its layers as well
  Recipe         ///< of another tool, by its name: a shell script or a Python program
};

struct FoundFile {
  QString path;
  FileKind kind;
};

/// Where the name tells it. Quick.
std::optional<FileKind> kindByName(const QString& path);
/// By name and content. The beginning of the file is read, and all of it where that does not tell: not for the GUI
/// thread.
FileKind fileKindOf(const QString& path);

bool isOfEngine(FileKind kind);
/// Whether such a file says something of a model that is open, rather than being one.
bool isForModel(FileKind kind);

}  // namespace fusescope
