#include "ui/window/file_kinds.h"

#include <QFileInfo>

#include "calibration/ranges.h"
#include "planning/directives_file.h"
#include "session/import_engine.h"
#include "session/input_files.h"
#include "ui/window/job_file_actions.h"

namespace fusescope {

FileKind fileKindOf(const QString& path) {
  const QString suffix = QFileInfo(path).suffix();
  const std::string name = path.toStdString();
  if (suffix == QLatin1String("fse")) return FileKind::Engine;
  if (isInputFile(name)) return FileKind::Inputs;
  if (isRangesFile(name)) return FileKind::Ranges;
  if (suffix == QLatin1String("json") && readDirectivesFile(name).ok()) return FileKind::Directives;
  if (isResultFile(path)) return FileKind::JobResult;
  if (isFileOfEngine(name)) return FileKind::EngineFile;
  if (suffix == QLatin1String("sh") || suffix == QLatin1String("py")) return FileKind::Recipe;
  return FileKind::Network;
}

bool isForModel(FileKind kind) {
  return kind == FileKind::Inputs || kind == FileKind::Ranges || kind == FileKind::Directives ||
         kind == FileKind::EngineFile || kind == FileKind::Recipe;
}

}  // namespace fusescope
