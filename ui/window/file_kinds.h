#pragma once

#include <QString>
#include <optional>

namespace fusescope {

/// The kinds of files that a user may open, or drop on the window.
enum class FileKind {
  Network,       ///< also a plan or a session, which replace the document
  Engine,        ///< an engine file of ours
  Inputs,        ///< inputs of a run
  Ranges,        ///< ranges of values, for int8
  Directives,    ///< directives of Fusescope
  JobResult,     ///< the result of a job file
  EngineFile,    ///< files of an engine that was built elsewhere: TensorRT's profile, times or log, kernels of
                 ///< TorchInductor
  EngineLayers,  ///< the layers of such an engine, which are opened as a network if none is open
  EngineLog,     ///< the log of its build, which also lists its layers
  Recipe         ///< a recipe of another tool, judged by its name: a shell script or a Python program
};

struct FoundFile {
  QString path;
  FileKind kind;
};

/// Returns the kind if the name determines it; it is fast.
std::optional<FileKind> kindByName(const QString& path);
/// Returns the kind by name and content. It reads the beginning of the file, or all of it if necessary, and must not be
/// called on the GUI thread.
FileKind fileKindOf(const QString& path);

/// Returns whether a file has the name of a job's result.
bool isResultFile(const QString& path);
bool isOfEngine(FileKind kind);
/// Returns whether such a file is about an open model, instead of being one.
bool isForModel(FileKind kind);

}  // namespace fusescope
