#include "session/documents/export_report.h"

#include "base/json.h"

#include <filesystem>

namespace fusescope {

Json exportJson(const std::string& format, const std::string& path, const Exported& exported) {
  Json warnings = Json::array();
  for (const ExportNote& note : exported.notes) warnings.push_back(note.text);
  std::error_code error;
  const std::uintmax_t bytes = std::filesystem::file_size(path, error);
  return {{"format", "fusescope.export"},
          {"version", 1},
          {"to", format},
          {"path", path},
          {"bytes", error ? Json() : Json(bytes)},
          {"numbers", exported.numbers ? toJson(*exported.numbers) : Json()},
          {"warnings", std::move(warnings)}};
}

}  // namespace fusescope
