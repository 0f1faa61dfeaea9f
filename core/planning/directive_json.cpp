#include <array>

#include "planning/directive.h"

namespace fusescope {

namespace {

constexpr std::string_view kFormat = "fusescope.directives";
constexpr int kVersion = 1;
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
    if (!type) return bad(m_index, "type", "'" + typeName + "' is not a type");
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

}  // namespace

Json toJson(const Directives& directives) {
  Json list = Json::array();
  for (const Directive& directive : directives) list.push_back(toJson(directive));
  return {{"format", kFormat}, {"version", kVersion}, {"directives", std::move(list)}};
}

Result<Directives> directivesFromJson(const Json& json) {
  if (!json.is_object() || !json.contains("format") || json["format"] != kFormat) {
    return Diagnostic{.message = "this is not a directives file: 'format' is not " + std::string(kFormat),
                      .where = {.attribute = "format"}};
  }
  if (!json.contains("version") || json["version"] != kVersion) {
    return Diagnostic{.message = "this version of directives is not known",
                      .where = {.attribute = "version"},
                      .help = "This Fusescope reads version " + std::to_string(kVersion) + "."};
  }
  if (!json.contains("directives") || !json["directives"].is_array()) {
    return Diagnostic{.message = "the list 'directives' is missing", .where = {.attribute = "directives"}};
  }
  Directives directives;
  for (const Json& entry : json["directives"]) {
    directives.push_back(TRY(DirectiveReader(entry, directives.size()).read()));
  }
  assignIds(directives);
  return directives;
}

}  // namespace fusescope
