#include "target/target_table.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>

namespace fusescope {
namespace {

constexpr std::string_view kFormat = "fusescope.target";
constexpr int kVersion = 1;

/// Reads one file; every error names the file, the operator (where one is being read) and the key.
class TableReader {
 public:
  explicit TableReader(const std::string& file) : m_file(file) {}

  Result<TargetTable> read(const Json& json) {
    TargetTable table;
    TRY(readHead(json, table));
    TRY(readTypes(json, table));
    TRY(readNoFuse(json, table));
    for (const Json& row : TRY(list(json, "operators"))) {
      OperatorRow read = TRY(readRow(row, table));
      m_operator.clear();
      const std::string op = read.op;
      if (!table.operators.emplace(op, std::move(read)).second) return error("operators", "two rows are about " + op);
    }
    return table;
  }

 private:
  Diagnostic error(std::string_view key, std::string message) const {
    return {.message = std::move(message),
            .where = {.file = m_file, .node = m_operator, .attribute = std::string(key)},
            .help = "See resources/targets/FORMAT.md."};
  }

  Result<std::string> text(const Json& json, const char* key, bool needed = true) const {
    const auto found = json.find(key);
    if (found == json.end()) return needed ? Result<std::string>(error(key, "is missing")) : std::string();
    if (!found->is_string()) return error(key, "must be a text");
    return found->get<std::string>();
  }

  Result<bool> flag(const Json& json, const char* key, std::optional<bool> otherwise = std::nullopt) const {
    const auto found = json.find(key);
    if (found == json.end()) return otherwise ? Result<bool>(*otherwise) : error(key, "is missing");
    if (!found->is_boolean()) return error(key, "must be true or false");
    return found->get<bool>();
  }

  Result<Json> list(const Json& json, const char* key, bool needed = true) const {
    const auto found = json.find(key);
    if (found == json.end()) return needed ? Result<Json>(error(key, "is missing")) : Json(Json::array());
    if (!found->is_array()) return error(key, "must be a list");
    return Json(*found);
  }

  Result<Json> object(const Json& json, const char* key, bool needed) const {
    const auto found = json.find(key);
    if (found == json.end()) return needed ? Result<Json>(error(key, "is missing")) : Json(Json::object());
    if (!found->is_object()) return error(key, "must be an object");
    return Json(*found);
  }

  Result<std::vector<std::string>> texts(const Json& json, const char* key, bool needed) const {
    std::vector<std::string> texts;
    for (const Json& item : TRY(list(json, key, needed))) {
      if (!item.is_string()) return error(key, "must be a list of texts");
      texts.push_back(item.get<std::string>());
    }
    return texts;
  }

  Result<std::int64_t> number(const Json& json, const char* key) const {
    if (!json.is_number_integer()) return error(key, "must be a whole number");
    return json.get<std::int64_t>();
  }

  Result<DataType> type(const std::string& name, const char* key) const {
    const auto type = dataTypeFromName(name);
    if (!type) return error(key, "'" + name + "' is not an element type");
    return *type;
  }

  Result<std::vector<DataType>> typeList(const Json& json, const char* key, bool needed = true) const {
    std::vector<DataType> types;
    for (const std::string& name : TRY(texts(json, key, needed))) types.push_back(TRY(type(name, key)));
    return types;
  }

  Status capability(const TargetTable& table, const std::string& name, const char* key) const {
    if (std::ranges::find(table.capabilities, name) == table.capabilities.end())
      return error(key, "'" + name + "' is not among the capabilities");
    return Done{};
  }

  /// Reads a key of the table's sources, which everything in a table must have.
  Result<std::string> source(const Json& json, const TargetTable& table) const {
    std::string key = TRY(text(json, "source"));
    if (!table.sources.contains(key)) return error("source", "'" + key + "' is not among the sources");
    return key;
  }

  Status readHead(const Json& json, TargetTable& table) const {
    if (!json.is_object()) return error("", "is not a JSON object");
    if (TRY(text(json, "format")) != kFormat) return error("format", "is not " + std::string(kFormat));
    if (!json.contains("version") || json.at("version") != kVersion) return error("version", "must be 1");
    table.name = TRY(text(json, "name"));
    table.summary = TRY(text(json, "summary"));
    table.backend = TRY(text(json, "backend"));
    table.operatorsOf = TRY(text(json, "operators_of"));
    table.planningOnly = TRY(flag(json, "planning_only"));
    table.stronglyTyped = TRY(flag(json, "strongly_typed"));
    table.predictedFusions = TRY(flag(json, "predicted_fusions"));
    const std::string bodies = TRY(text(json, "bodies"));
    if (bodies != "whole" && bodies != "parts") return error("bodies", "must be whole or parts");
    table.bodies = bodies == "whole" ? BodyRule::Whole : BodyRule::Parts;
    table.capabilities = TRY(texts(json, "capabilities", false));
    table.defaultCapability = TRY(text(json, "default_capability", false));
    if (!table.defaultCapability.empty()) TRY(capability(table, table.defaultCapability, "default_capability"));
    const std::string unlisted = TRY(text(json, "unlisted"));
    if (unlisted == "reference_only") {
      table.unlisted = Unlisted::ReferenceOnly;
    } else if (unlisted == "not_supported") {
      table.unlisted = Unlisted::NotSupported;
    } else if (unlisted == "unknown") {
      table.unlisted = Unlisted::Unknown;
    } else if (unlisted == "taken") {
      table.unlisted = Unlisted::Accepted;
    } else {
      return error("unlisted", "must be reference_only, not_supported, unknown or taken");
    }
    const Json sources = TRY(object(json, "sources", true));
    for (const auto& [key, where] : sources.items()) {
      if (!where.is_string() || where.get<std::string>().empty())
        return error("sources", "'" + key + "' must be a text that is not empty");
      table.sources[key] = where.get<std::string>();
    }
    return Done{};
  }

  Status readTypes(const Json& json, TargetTable& table) const {
    for (const Json& item : TRY(list(json, "types"))) {
      TargetType entry{.type = TRY(type(TRY(text(item, "type")), "types")),
                       .needs = TRY(texts(item, "needs", false)),
                       .source = TRY(source(item, table))};
      for (const std::string& need : entry.needs) TRY(capability(table, need, "needs"));
      table.typeSet = table.typeSet | TypeSet{entry.type};
      table.types.push_back(std::move(entry));
    }
    const Json narrower = TRY(object(json, "truncate", true));
    for (const auto& [wide, narrow] : narrower.items()) {
      const DataType from = TRY(type(wide, "truncate"));
      const DataType to = TRY(type(narrow.is_string() ? narrow.get<std::string>() : narrow.dump(), "truncate"));
      if (table.typeSet.contains(from)) return error("truncate", "the target has " + wide);
      if (!table.typeSet.contains(to))
        return error("truncate", "the target has no " + std::string(fusescope::name(to)));
      table.truncate[from] = to;
    }
    table.computeTypes = TRY(typeList(json, "compute_types"));
    table.runs = TRY(typeList(json, "runs"));
    if (json.contains("widened")) table.widened = TRY(typeList(json, "widened"));
    for (const DataType type : table.widened)
      if (std::ranges::find(table.runs, type) == table.runs.end())
        return error("widened", std::string(fusescope::name(type)) + " is not among the types that it runs");
    return Done{};
  }

  Status readNoFuse(const Json& json, TargetTable& table) const {
    for (const Json& item : TRY(list(json, "no_fuse", false))) {
      if (!item.is_object()) return error("no_fuse", "must be a list of objects");
      TRY(source(item, table));
      std::vector<std::string> optimisers = TRY(texts(item, "optimisers", true));
      if (optimisers.empty()) return error("optimisers", "must name at least one");
      const std::string rule = TRY(text(item, "rule"));
      if (!table.noFuse.emplace(rule, std::move(optimisers)).second)
        return error("no_fuse", "two entries are about rule " + rule);
    }
    return Done{};
  }

  Result<OperatorRow> readRow(const Json& json, const TargetTable& table) {
    OperatorRow row;
    row.op = TRY(text(json, "op"));
    m_operator = row.op;
    row.source = TRY(source(json, table));
    row.supported = TRY(flag(json, "supported", true));
    row.inOnnx = TRY(flag(json, "in_onnx", true));
    row.kernel = TRY(text(json, "kernel", false));
    row.since = TRY(text(json, "since", false));
    row.caveat = TRY(text(json, "caveat", false));
    row.equivalent = TRY(text(json, "equivalent", false));
    row.typedOutputs = TRY(flag(json, "typed_outputs", false));
    row.anyType = !json.contains("types");
    for (const DataType each : TRY(typeList(json, "types", false))) {
      if (!table.typeSet.contains(each)) return error("types", "the target has no " + std::string(name(each)));
      row.types = row.types | TypeSet{each};
    }
    TRY(readTyped(json, row));
    if (json.contains("apart_from_cast")) {
      const Json apart = TRY(object(json, "apart_from_cast", true));
      TRY(source(apart, table));
      if (!apart.contains("input")) return error("apart_from_cast", "must name an input");
      row.apartFromCast = static_cast<std::size_t>(TRY(number(apart["input"], "apart_from_cast")));
    }
    for (const Json& item : TRY(list(json, "restrictions", false)))
      row.restrictions.push_back(TRY(readRestriction(item, table)));
    return row;
  }

  Status readTyped(const Json& json, OperatorRow& row) const {
    if (json.contains("typed")) {
      row.typed.emplace();
      for (const Json& item : TRY(list(json, "typed")))
        row.typed->push_back(static_cast<std::size_t>(TRY(number(item, "typed"))));
    }
    if (json.contains("typed_from"))
      row.typedFrom = static_cast<std::size_t>(TRY(number(json["typed_from"], "typed_from")));
    const Json since = TRY(object(json, "types_since", false));
    for (const auto& [name, version] : since.items()) {
      const DataType each = TRY(type(name, "types_since"));
      if (!row.types.contains(each) || !version.is_string())
        return error("types_since", "'" + name + "' is not a type of this operator");
      row.typesSince[each] = version.get<std::string>();
    }
    return Done{};
  }

  Result<Restriction> readRestriction(const Json& json, const TargetTable& table) const {
    if (!json.is_object()) return error("restrictions", "must be a list of objects");
    Restriction restriction;
    restriction.until = TRY(text(json, "until", false));
    restriction.on = TRY(texts(json, "on", false));
    for (const std::string& name : restriction.on) TRY(capability(table, name, "on"));
    if (json.contains("function")) return readFunction(json, std::move(restriction));
    if (json.contains("attribute")) {
      restriction.subject = Restriction::Subject::Attribute;
      restriction.name = TRY(text(json, "attribute"));
    } else {
      const char* key = json.contains("input") ? "input" : "output";
      if (!json.contains(key)) return error("restrictions", "a restriction has no subject");
      restriction.subject = json.contains("input") ? Restriction::Subject::Input : Restriction::Subject::Output;
      restriction.position = static_cast<std::size_t>(TRY(number(json[key], key)));
      restriction.name = TRY(text(json, "name"));
    }
    if (json.contains("of_types")) {
      restriction.ofTypes.emplace();
      for (const DataType each : TRY(typeList(json, "of_types")))
        restriction.ofTypes = *restriction.ofTypes | TypeSet{each};
    }
    TRY(readRule(json, restriction));
    return restriction;
  }

  Result<Restriction> readFunction(const Json& json, Restriction restriction) const {
    restriction.name = TRY(text(json, "function"));
    const auto& functions = restrictionFunctions();
    const auto found =
        std::ranges::find_if(functions, [&](const NamedRestriction* known) { return known->name == restriction.name; });
    if (found == functions.end()) return error("function", "there is no function '" + restriction.name + "'");
    restriction.function = (*found)->holds;
    restriction.statement = (*found)->statement;
    return restriction;
  }

  Status readRule(const Json& json, Restriction& restriction) const {
    using Subject = Restriction::Subject;
    using Rule = Restriction::Rule;
    struct Key {
      const char* key;
      Subject subject;
      Rule rule;
    };
    static constexpr Key kKeys[] = {{"one_of", Subject::Attribute, Rule::OneOf},
                                    {"all", Subject::Attribute, Rule::All},
                                    {"rank", Subject::Input, Rule::Rank},
                                    {"constant", Subject::Input, Rule::Constant},
                                    {"zero", Subject::Input, Rule::Zero},
                                    {"below", Subject::Input, Rule::Below},
                                    {"types", Subject::Input, Rule::Types},
                                    {"static", Subject::Input, Rule::Static},
                                    {"static_axis", Subject::Input, Rule::StaticAxis}};
    if (json.contains("absent")) {
      restriction.rule = Rule::Absent;
      return Done{};
    }
    for (const Key& key : kKeys) {
      if (restriction.subject != key.subject || !json.contains(key.key)) continue;
      restriction.rule = key.rule;
      if (key.rule == Rule::Types) {
        for (const DataType each : TRY(typeList(json, key.key))) restriction.types = restriction.types | TypeSet{each};
      } else if (key.rule == Rule::StaticAxis) {
        restriction.axis = TRY(text(json, key.key));
        if (json.contains("default")) restriction.axisDefault = TRY(number(json["default"], "default"));
      } else if (key.rule == Rule::OneOf || key.rule == Rule::Rank) {
        for (const Json& value : TRY(list(json, key.key))) restriction.values.push_back(value);
      } else if (key.rule == Rule::All || key.rule == Rule::Below) {
        restriction.values.emplace_back(TRY(number(json[key.key], key.key)));
      }
      return Done{};
    }
    return error("restrictions",
                 "the restriction of '" + restriction.name + "' has no rule that exists for its subject");
  }

  const std::string& m_file;
  std::string m_operator;
};

TargetTable loaded(const EmbeddedTable& embedded, std::string_view name) {
  auto table = parseTargetTable(embedded.text, std::string(embedded.file));
  if (!table.ok() || table.value().name != name) {
    const std::string why = table.ok() ? table.value().name + " is not the name of its file" : table.error().text();
    std::fprintf(stderr, "%s: %s\n", std::string(embedded.file).c_str(), why.c_str());
    std::abort();
  }
  return std::move(table).value();
}

}  // namespace

bool OperatorRow::concernsInput(std::size_t input) const {
  return typed ? std::ranges::find(*typed, input) != typed->end() : input >= typedFrom;
}

const OperatorRow* TargetTable::find(std::string_view op) const {
  const auto found = operators.find(op);
  return found == operators.end() ? nullptr : &found->second;
}

Result<TargetTable> parseTargetTable(std::string_view text, const std::string& file) {
  try {
    return TableReader(file).read(Json::parse(text));
  } catch (const Json::exception& problem) {
    return Diagnostic{.message = std::string("is not a target table: ") + problem.what(), .where = {.file = file}};
  }
}

const TargetTable* findTargetTable(std::string_view name) {
  static std::mutex mutex;
  static std::map<std::string, TargetTable, std::less<>> tables;
  const std::scoped_lock lock(mutex);
  if (const auto known = tables.find(name); known != tables.end()) return &known->second;
  const auto embedded = std::ranges::find(embeddedTargetTables(), std::string(name) + ".json", &EmbeddedTable::file);
  if (embedded == embeddedTargetTables().end()) return nullptr;
  return &tables.emplace(name, loaded(*embedded, name)).first->second;
}

}  // namespace fusescope
