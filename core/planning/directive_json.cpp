#include <algorithm>
#include <array>

#include "base/files.h"
#include "base/text.h"
#include "planning/directives_file.h"

namespace fusescope {

namespace {

constexpr std::string_view kFormat = "fusescope.directives";
constexpr int kVersion = 2;
constexpr int kOldestVersion = 1;  // without `target` and `precision`
constexpr std::array kKinds = {DirectiveKind::Pin,    DirectiveKind::PinOutput, DirectiveKind::Fallback,
                               DirectiveKind::Split,  DirectiveKind::NoFuse,    DirectiveKind::Truncate,
                               DirectiveKind::Tactic, DirectiveKind::MinSegment};

Json toJson(const Directive& directive) {
  Json json{{"id", directive.id}, {"kind", std::string(name(directive.kind))}};
  if (!directive.pattern.empty()) json["pattern"] = directive.pattern;
  switch (directive.kind) {
    case DirectiveKind::Pin:
    case DirectiveKind::PinOutput:
      json["type"] = std::string(name(directive.type));
      json["strictness"] = std::string(name(directive.strictness));
      break;
    case DirectiveKind::NoFuse:
      json["rule"] = directive.rule;
      break;
    case DirectiveKind::Tactic:
      json["tactic"] = directive.rule;
      break;
    case DirectiveKind::Truncate:
      json["mode"] = std::string(name(directive.truncate));
      break;
    case DirectiveKind::MinSegment:
      json["nodes"] = directive.number;
      break;
    case DirectiveKind::Fallback:
    case DirectiveKind::Split:
      break;
  }
  if (!directive.note.empty()) json["note"] = directive.note;
  return json;
}

Diagnostic bad(std::size_t index, std::string field, std::string problem) {
  return {.message = std::move(problem),
          .where = {.attribute = "directives[" + std::to_string(index) + "]." + std::move(field)},
          .help = "See planning/FORMAT.md."};
}

class DirectiveReader {
 public:
  DirectiveReader(const Json& json, std::size_t index) : m_json(json), m_index(index) {}

  Result<Directive> read() const {
    if (!m_json.is_object()) return bad(m_index, "", "a directive is an object");
    Directive directive;
    directive.id = TRY(text("id", false));
    directive.note = TRY(text("note", false));
    directive.kind = TRY(kind());
    const bool wantsPattern = directive.kind != DirectiveKind::Truncate &&
                              directive.kind != DirectiveKind::MinSegment && directive.kind != DirectiveKind::NoFuse;
    directive.pattern = TRY(text("pattern", wantsPattern));
    TRY(readFields(directive));
    return directive;
  }

 private:
  Status readFields(Directive& directive) const {
    switch (directive.kind) {
      case DirectiveKind::Pin:
      case DirectiveKind::PinOutput:
        return readTyped(directive);
      case DirectiveKind::NoFuse:
        directive.rule = TRY(text("rule", true));
        break;
      case DirectiveKind::Tactic:
        directive.rule = TRY(text("tactic", true));
        break;
      case DirectiveKind::Truncate:
        directive.truncate = TRY(parseTruncate(TRY(text("mode", true)))).truncate;
        break;
      case DirectiveKind::MinSegment:
        if (!m_json.contains("nodes") || !m_json["nodes"].is_number_integer()) {
          return bad(m_index, "nodes", "the number of nodes is missing");
        }
        directive.number = m_json["nodes"].get<std::int64_t>();
        break;
      case DirectiveKind::Fallback:
      case DirectiveKind::Split:
        break;
    }
    return Done{};
  }

  Status readTyped(Directive& directive) const {
    const std::string typeName = TRY(text("type", true));
    const auto type = dataTypeFromName(typeName);
    if (!type || *type == DataType::Undefined) return bad(m_index, "type", "'" + typeName + "' is not a type");
    directive.type = *type;
    const std::string strictness = TRY(text("strictness", false));
    if (!strictness.empty() && strictness != "obey" && strictness != "prefer") {
      return bad(m_index, "strictness", "'" + strictness + "' is neither obey nor prefer");
    }
    directive.strictness = strictness == "obey" ? Strictness::Obey : Strictness::Prefer;
    return Done{};
  }

  Result<DirectiveKind> kind() const {
    const std::string wanted = TRY(text("kind", true));
    for (DirectiveKind kind : kKinds) {
      if (name(kind) == wanted) return kind;
    }
    return bad(m_index, "kind", "'" + wanted + "' is no kind of directive");
  }

  Result<std::string> text(const char* field, bool required) const {
    if (!m_json.contains(field)) {
      if (required) return bad(m_index, field, "is missing");
      return std::string();
    }
    if (!m_json[field].is_string()) return bad(m_index, field, "is not a string");
    return m_json[field].get<std::string>();
  }

  const Json& m_json;
  std::size_t m_index;
};

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
  if (!json.is_object() || !json.contains("format") || json["format"] != kFormat) {
    return badField("format", "this is not a directives file: 'format' is not " + std::string(kFormat), {});
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
  Json json{{"format", kFormat}, {"version", kVersion}};
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
    file.directives.push_back(TRY(DirectiveReader(entry, file.directives.size()).read()));
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
