#include "ui/window/file_kinds.h"

#include <QFileInfo>
#include <fstream>

#include "calibration/ranges.h"
#include "compilers/probed/recorded_job.h"
#include "frontends/torch/inductor_build.h"
#include "planning/directives_file.h"
#include "session/import_engine.h"
#include "session/inputs/input_files.h"

namespace fusescope {

namespace {

std::string beginningOf(const std::string& path) {
  constexpr std::size_t kLooked = 4096;
  std::string text(kLooked, '\0');
  std::ifstream file(path, std::ios::binary);
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  text.erase(0, std::min(text.find_first_not_of(" \t\r\n"), text.size()));
  return text;
}

bool holds(const std::string& text, std::initializer_list<const char*> words) {
  return std::ranges::any_of(words, [&](const char* word) { return text.find(word) != std::string::npos; });
}

/// Returns the kind of a file of an engine that its beginning does not show: a log, a table, or JSON whose keys come
/// late.
FileKind kindOfWhole(const std::string& path, const QString& suffix) {
  if (suffix == QLatin1String("json") && readDirectivesFile(path).ok()) return FileKind::Directives;
  if (const auto file = fileOfEngine(path)) {
    if (!file->log.empty()) return listsEngineLayers(path) ? FileKind::EngineLog : FileKind::EngineFile;
    return file->layers.empty() || isInductorBuild(path) ? FileKind::EngineFile : FileKind::EngineLayers;
  }
  if (suffix == QLatin1String("sh") || suffix == QLatin1String("py")) return FileKind::Recipe;
  return FileKind::Network;
}

}  // namespace

std::optional<FileKind> kindByName(const QString& path) {
  const QString suffix = QFileInfo(path).suffix();
  if (suffix == QLatin1String("fse")) return FileKind::Engine;
  if (suffix == QLatin1String("onnx") || suffix == QLatin1String("fsession")) return FileKind::Network;
  if (isInputFile(path.toStdString())) return FileKind::Inputs;
  if (isResultFile(path)) return FileKind::JobResult;
  return std::nullopt;
}

FileKind fileKindOf(const QString& path) {
  if (const auto kind = kindByName(path)) return *kind;
  const std::string name = path.toStdString();
  // A package of compiled code has the same suffix as the exported program from which it was made.
  if (QFileInfo(path).suffix() == QLatin1String("pt2"))
    return isInductorBuild(name) ? FileKind::EngineFile : FileKind::Network;
  if (isRangesFile(name)) return FileKind::Ranges;
  const std::string begin = beginningOf(name);
  const std::size_t format = begin.find("\"fusescope.");
  if (begin.starts_with('{') && format != std::string::npos)
    return begin.find("\"fusescope.directives\"") == format ? FileKind::Directives : FileKind::Network;
  const bool isList = begin.starts_with('[');
  if (isList && holds(begin, {"\"averageMs\"", "\"timeMs\"", "\"latencyMs\"", "\"computeMs\""}))
    return FileKind::EngineFile;
  if ((isList || begin.starts_with('{')) && listsEngineLayers(name)) return FileKind::EngineLayers;
  return kindOfWhole(name, QFileInfo(path).suffix());
}

bool isResultFile(const QString& path) {
  return isJobResult(path.toStdString());
}

bool isOfEngine(FileKind kind) {
  return kind == FileKind::EngineFile || kind == FileKind::EngineLayers || kind == FileKind::EngineLog;
}

bool isForModel(FileKind kind) {
  return kind == FileKind::Inputs || kind == FileKind::Ranges || kind == FileKind::Directives || isOfEngine(kind) ||
         kind == FileKind::Recipe;
}

}  // namespace fusescope
