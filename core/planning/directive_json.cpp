#include <algorithm>

#include "base/files.h"
#include "base/json.h"
#include "base/text.h"
#include "base/user_json.h"
#include "planning/directives/directive_fields.h"
#include "planning/directives/directive_form.h"
#include "planning/directives_file.h"
#include "planning/plan_options_json.h"

namespace fusescope {

namespace {

constexpr std::string_view kDirectivesFormat = "fusescope.directives";
constexpr int kVersion = 3;
constexpr int kWithoutWeights = 2;  // without weight_only and `workspace_bytes`
constexpr int kOldestVersion = 1;   // also without `target` and `precision`

Json toJson(const Directive& directive) {
  const DirectiveForm& form = formOf(directive);
  Json json{{"id", directive.id}, {"kind", std::string(form.name)}};
  if (!directive.pattern.empty()) json["pattern"] = directive.pattern;
  if (form.write != nullptr) form.write(directive, json);
  if (!directive.note.empty()) json["note"] = directive.note;
  return json;
}

/// Returns what the user may have meant.
std::string otherKinds(const std::string& wanted) {
  std::vector<std::string> names;
  for (const DirectiveForm* form : directiveForms()) names.emplace_back(form->name);
  const std::vector<std::string> near = nearestNames(wanted, names, 1);
  return near.empty() ? "kinds are " + joined(names) : "the nearest is '" + near.front() + "'";
}

Result<Directive> directiveOf(const Json& json, std::size_t index) {
  const DirectiveFields fields(json, index);
  if (!json.is_object()) return fields.bad("", "a directive is an object");
  Directive directive;
  directive.id = TRY(fields.textOrNothing("id"));
  directive.note = TRY(fields.textOrNothing("note"));
  const std::string wanted = TRY(fields.text("kind"));
  const auto kind = directiveKindFromName(wanted);
  if (!kind) return fields.bad("kind", "'" + wanted + "' is no kind of directive; " + otherKinds(wanted));
  directive.kind = *kind;
  const DirectiveForm& form = formOf(*kind);
  if (form.pattern != PatternUse::None)
    directive.pattern =
        TRY(form.pattern == PatternUse::Required ? fields.text("pattern") : fields.textOrNothing("pattern"));
  if (form.read != nullptr) TRY(form.read(fields, directive));
  TRY(fields.checkAllRead("a directive of kind " + wanted));
  return directive;
}

Diagnostic badField(std::string field, std::string problem, std::string help = "See planning/FORMAT.md.") {
  return {.message = std::move(problem), .where = {.attribute = std::move(field)}, .help = std::move(help)};
}

Result<std::vector<DataType>> precisionsOf(const Json& json) {
  if (!json.is_array() || json.empty()) {
    return badField("precision", "is not a list of types", "For example: [\"f16\"], or [\"f32\"] for nothing lower.");
  }
  std::vector<DataType> types;
  for (const Json& entry : json) {
    if (!entry.is_string()) return badField("precision", "contains something that is not a type's name");
    const DataType type = TRY(precisionType(entry.get<std::string>(), "precision"));
    if (std::find(types.begin(), types.end(), type) == types.end()) types.push_back(type);
  }
  if (types == std::vector<DataType>{DataType::F32}) types.clear();  // only f32, so nothing narrower
  return types;
}

std::vector<std::string> keysOf(int version) {
  std::vector<std::string> keys{"format", "version", "target", "precision", "directives"};
  if (version > kWithoutWeights) keys.insert(keys.end(), {"workspace_bytes", "weight_only"});
  return keys;
}

Result<int> versionOf(const Json& json) {
  TRY(checkFormat(json, "a directives file", kDirectivesFormat, kVersion));
  for (int version = kOldestVersion; version <= kVersion; ++version)
    if (json["version"] == version) return version;
  return badField(
      "version", "this version of directives is not known",
      "This Fusescope reads versions " + std::to_string(kOldestVersion) + " to " + std::to_string(kVersion) + ".");
}

}  // namespace

Json toJson(const DirectivesFile& file) {
  Json list = Json::array();
  for (const Directive& directive : file.directives) list.push_back(toJson(directive));
  // The smallest version that can express the contents is written, so that older programs can read such files.
  const bool isNew = file.workspaceBytes || file.weightOnly;
  Json json{{"format", kDirectivesFormat}, {"version", isNew ? kVersion : kWithoutWeights}};
  if (file.target) json["target"] = *file.target;
  if (file.precisions) json["precision"] = precisionJson(*file.precisions);
  if (file.workspaceBytes) json["workspace_bytes"] = *file.workspaceBytes;
  if (file.weightOnly) json["weight_only"] = toJson(*file.weightOnly);
  json["directives"] = std::move(list);
  return json;
}

Result<DirectivesFile> directivesFileFromJson(const Json& json) {
  const int version = TRY(versionOf(json));
  // An unknown key would be a request that is silently ignored.
  if (version > kOldestVersion) TRY(checkKeys(json, keysOf(version), "", "a directives file"));
  if (!json.contains("directives")) return badField("directives", missingInWords(json, "directives"));
  if (!json["directives"].is_array()) return badField("directives", "is not a list");
  DirectivesFile file;
  if (version > kOldestVersion && json.contains("target")) {
    if (!json["target"].is_string()) return badField("target", "is not a string");
    file.target = json["target"].get<std::string>();
  }
  if (version > kOldestVersion && json.contains("precision")) file.precisions = TRY(precisionsOf(json["precision"]));
  if (version == kVersion && json.contains("workspace_bytes"))
    file.workspaceBytes = TRY(workspaceBytesFromJson(json["workspace_bytes"], "workspace_bytes"));
  if (version == kVersion && json.contains("weight_only"))
    file.weightOnly = TRY(weightOnlyFromJson(json["weight_only"], "weight_only"));
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
  const auto json = parseUserJson(TRY(readTextFile(path)));
  if (!json.ok()) return located(json.error());
  auto file = directivesFileFromJson(json.value());
  if (!file.ok()) return located(std::move(file).error());
  return file;
}

DirectivesFile directivesFileOf(const PlanOptions& options) {
  DirectivesFile file{.directives = options.directives, .target = options.target, .precisions = options.precisions};
  if (options.workspaceBytes != 0) file.workspaceBytes = options.workspaceBytes;
  if (options.weightOnly.type != DataType::Undefined) file.weightOnly = options.weightOnly;
  return file;
}

void adopt(DirectivesFile file, PlanOptions& options) {
  options.directives = std::move(file.directives);
  if (file.target) options.target = std::move(*file.target);
  if (file.precisions) options.precisions = std::move(*file.precisions);
  if (file.workspaceBytes) options.workspaceBytes = *file.workspaceBytes;
  if (file.weightOnly) options.weightOnly = *file.weightOnly;
}

Json toJson(const Directives& directives) {
  return toJson(DirectivesFile{.directives = directives});
}

Result<Directives> directivesFromJson(const Json& json) {
  return TRY(directivesFileFromJson(json)).directives;
}

}  // namespace fusescope
