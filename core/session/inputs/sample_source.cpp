#include "session/inputs/sample_source.h"

#include <fmt/format.h>

#include <filesystem>

#include "base/json_fields.h"
#include "base/text.h"

namespace fusescope {
namespace {

/// Returns the last part of a path, also if it ends in a slash.
std::string lastPart(const std::string& path) {
  const std::filesystem::path whole(path);
  return (whole.has_filename() ? whole : whole.parent_path()).filename().string();
}

}  // namespace

std::string inWords(const SampleSource& source) {
  if (source.empty()) return "random inputs";
  std::string words = lastPart(source.paths.front());
  const std::size_t others = source.paths.size() - 1;
  if (others > 0) words += " and " + counted(static_cast<std::int64_t>(others), "other");
  return source.batchAxis ? fmt::format("{}, cut along axis {}", words, *source.batchAxis) : words;
}

Json toJson(const SampleSource& source) {
  return {{"paths", source.paths}, {"batch_axis", source.batchAxis ? Json(*source.batchAxis) : Json(nullptr)}};
}

Result<SampleSource> sampleSourceFromJson(const Json& json) {
  SampleSource source;
  JsonFields fields(json);
  fields.read("paths", source.paths).readCount("batch_axis", source.batchAxis);
  return fields.result(std::move(source));
}

}  // namespace fusescope
