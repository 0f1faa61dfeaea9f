#pragma once

#include <QString>

namespace fusescope {

/// What somebody may open, or drop on the window.
enum class FileKind {
  Network,     ///< or whatever else takes the place of the document: a plan, a session
  Engine,      ///< one of ours
  Inputs,      ///< of a run
  Ranges,      ///< of values, for int8
  Directives,  ///< of Fusescope
  JobResult,   ///< what a job file brought back
  EngineFile,  ///< of a TensorRT engine that others built: its layers, times or log
  Recipe       ///< of another tool, by its name: a shell script or a Python program
};

/// By the file's name and content. It is read for that, as a whole where it may be of an engine.
FileKind fileKindOf(const QString& path);

/// Whether such a file says something of a model that is open, rather than being one.
bool isForModel(FileKind kind);

}  // namespace fusescope
