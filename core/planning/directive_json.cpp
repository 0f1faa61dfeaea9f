#include <algorithm>

#include "base/files.h"
#include "base/text.h"
#include "planning/directives/directive_fields.h"
#include "planning/directives/directive_form.h"
#include "planning/directives_file.h"

namespace fusescope {

namespace {

constexpr std::string_view kDirectivesFormat = "fusescope.directives";
constexpr int kVersion = 2;
constexpr int kOldestVersion = 1;  // without `target` and `precision`

Json toJson(const Directive& directive) {
  const DirectiveForm& form = formOf(directive);
  Json json{{"id", directive.id}, {"kind", std::string(form.name)}};
  if (!directive.pattern.empty()) json["pattern"] = directive.pattern;
  if (form.write != nullptr) form.write(directive, json);
  if (!directive.note.empty()) json["note"] = directive.note;
  return json;
}

Result<Directive> directiveOf(const Json& json, std::size_t index) {
  const DirectiveFields fields(json, index);
  if (!json.is_object()) return fields.bad("", "a directive is an object");
  Directive directive;
  directive.id = TRY(fields.textOrNothing("id"));
  directive.note = TRY(fields.textOrNothing("note"));
  const std::string wanted = TRY(fields.text("kind"));
  const auto kind = directiveKindFromName(wanted);
  if (!kind) return fields.bad("kind", "'" + wanted + "' is no kind of directive");
  directive.kind = *kind;
  const DirectiveForm& form = formOf(*kind);
  directive.pattern =
      TRY(form.pattern == PatternUse::Required ? fields.text("pattern") : fields.textOrNothing("pattern"));
  if (form.read != nullptr) TRY(form.read(fields, directive));
  return directive;
}

Diagnostic badField(std::string field, std::string problem, std::string help = "See planning/FORMAT.md.") {
  return {.message = std::move(problem), .where = {.attribute = std::move(field)}, .help = std::move(help)};
}

Json precisionJson(const std::vector<DataType>& precisions) {
  Json list = Json::array();
  for (const DataType type : precisions) list.push_back(std::string(name(type)));
  if (list.empty()) list.push_back(std::string(name(DataType::F32)));
  return list;
}

Result<std::vector<DataType>> precisionsOf(const Json& json) {
  if (!json.is_array() || json.empty()) {
    return badField("precision", "is not a list of types", "For example: [\"f16\"], or [\"f32\"] for nothing lower.");
  }
  std::vector<DataType> types;
  for (const Json& entry : json) {
    if (!entry.is_string()) return badField("precision", "holds something that is not a type's name");
    const DataType type = TRY(precisionType(entry.get<std::string>(), "precision"));
    if (std::find(types.begin(), types.end(), type) == types.end()) types.push_back(type);
  }
  if (types == std::vector<DataType>{DataType::F32}) types.clear();  // nothing lower than f32
  return types;
}

Result<int> versionOf(const Json& json) {
  if (!json.is_object() || !json.contains("format") || json["format"] != kDirectivesFormat) {
    return badField("format", "this is not a directives file: 'format' is not " + std::string(kDirectivesFormat), {});
  }
  for (int version = kOldestVersion; version <= kVersion; ++version)
    if (json.contains("version") && json["version"] == version) return version;
  return badField(
      "version", "this version of directives is not known",
      "This Fusescope reads versions " + std::to_string(kOldestVersion) + " to " + std::to_string(kVersion) + ".");
}

/// A key that is not known would be a wish that is silently left out.
Status checkKeys(const Json& json) {
  const std::vector<std::string> known{"format", "version", "target", "precision", "directives"};
  for (const auto& entry : json.items()) {
    if (std::find(known.begin(), known.end(), entry.key()) != known.end()) continue;
    return badField(entry.key(), "is not a key of a directives file", "Keys: " + joined(known) + ".");
  }
  return Done{};
}

}  // namespace

Json toJson(const DirectivesFile& file) {
  Json list = Json::array();
  for (const Directive& directive : file.directives) list.push_back(toJson(directive));
  Json json{{"format", kDirectivesFormat}, {"version", kVersion}};
  if (file.target) json["target"] = *file.target;
  if (file.precisions) json["precision"] = precisionJson(*file.precisions);
  json["directives"] = std::move(list);
  return json;
}

Result<DirectivesFile> directivesFileFromJson(const Json& json) {
  const int version = TRY(versionOf(json));
  if (version > kOldestVersion) TRY(checkKeys(json));
  if (!json.contains("directives") || !json["directives"].is_array()) {
    return Diagnostic{.message = "the list 'directives' is missing", .where = {.attribute = "directives"}};
  }
  DirectivesFile file;
  if (version > kOldestVersion && json.contains("target")) {
    if (!json["target"].is_string()) return badField("target", "is not a string");
    file.target = json["target"].get<std::string>();
  }
  if (version > kOldestVersion && json.contains("precision")) file.precisions = TRY(precisionsOf(json["precision"]));
  for (const Json& entry : json["directives"]) {
    file.directives.push_back(TRY(directiveOf(entry, file.directives.size())));
  }
  assignIds(file.directives);
  return file;
}

Result<DirectivesFile> readDirectivesFile(const std::filesystem::path& path) {
  const auto located = [&](Diagnostic error) {
    if (error.where.file.empty()) error.where.file = path.string();
    return error;
  };
  const Json json = Json::parse(TRY(readTextFile(path)), nullptr, false);
  if (json.is_discarded()) return located({.message = "this is not complete JSON"});
  auto file = directivesFileFromJson(json);
  if (!file.ok()) return located(std::move(file).error());
  return file;
}

DirectivesFile directivesFileOf(const PlanOptions& options) {
  return {.directives = options.directives, .target = options.target, .precisions = options.precisions};
}

void adopt(DirectivesFile file, PlanOptions& options) {
  options.directives = std::move(file.directives);
  if (file.target) options.target = std::move(*file.target);
  if (file.precisions) options.precisions = std::move(*file.precisions);
}

Json toJson(const Directives& directives) {
  return toJson(DirectivesFile{.directives = directives});
}

Result<Directives> directivesFromJson(const Json& json) {
  return TRY(directivesFileFromJson(json)).directives;
}

}  // namespace fusescope
