#include "ir/decision.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <unordered_map>
#include <utility>

#include "base/json.h"
#include "base/quantities.h"
#include "base/result.h"
#include "ir/graph.h"

namespace fusescope {
namespace {

constexpr std::array kKindNames{
    std::pair{DecisionKind::Import, std::string_view("import")},
    std::pair{DecisionKind::Normalise, std::string_view("normalise")},
    std::pair{DecisionKind::Infer, std::string_view("infer")},
    std::pair{DecisionKind::Input, std::string_view("input")},
    std::pair{DecisionKind::Truncate, std::string_view("truncate")},
    std::pair{DecisionKind::Quantize, std::string_view("quantize")},
    std::pair{DecisionKind::Validate, std::string_view("validate")},
    std::pair{DecisionKind::Partition, std::string_view("partition")},
    std::pair{DecisionKind::Fuse, std::string_view("fuse")},
    std::pair{DecisionKind::Precision, std::string_view("precision")},
    std::pair{DecisionKind::Tactic, std::string_view("tactic")},
    std::pair{DecisionKind::Cache, std::string_view("cache")},
    std::pair{DecisionKind::Build, std::string_view("build")},
};

constexpr std::array kSubjectNames{
    std::pair{SubjectKind::Node, "node"},
    std::pair{SubjectKind::Value, "value"},
    std::pair{SubjectKind::FusedNode, "fused_node"},
    std::pair{SubjectKind::Segment, "segment"},
};

/// Returns an argument as it is written in a sentence: strings without quotes, lists separated by commas.
std::string spoken(const DecisionArgument& argument) {
  if (const std::string* text = argument.text()) return *text;
  if (!argument.isList()) return argument.toJson().dump();
  std::string text;
  for (const DecisionArgument& item : argument.list()) text += (text.empty() ? "" : ", ") + spoken(item);
  return text;
}

/// Returns "no cast", "1 cast" or "2 casts" for "cast/casts".
std::string countedAs(std::int64_t count, std::string_view form) {
  const std::size_t slash = form.find('/');
  const std::string_view one = form.substr(0, slash), many = form.substr(slash + 1);
  if (count == 0) return std::string("no ").append(one);
  return std::to_string(count).append(" ").append(count == 1 ? one : many);
}

/// Returns a number in one of the forms of DecisionCode::sentence. Other arguments are written as they are.
std::string spokenAs(const DecisionArgument& argument, std::string_view form) {
  constexpr std::string_view kMore = " more";
  if (!argument.isNumber()) return argument.isNull() ? "an unknown amount" : spoken(argument);
  if (form == "time") return inTime(argument.number());
  const std::int64_t count = argument.integer();
  if (form == "bytes") return inBytes(count);
  if (!form.ends_with(kMore)) return countedAs(count, form);
  const std::string_view one = form.substr(0, form.size() - kMore.size());
  return one == "bytes" ? inBytesDifference(count) : inCountDifference(count, one);
}

/// Returns the replacement of "{ARGUMENT}" or "{ARGUMENT|FORM}", given without its braces.
std::string filledIn(std::string_view place, const DecisionArguments& arguments) {
  const std::size_t bar = place.find('|');
  const DecisionArgument* argument = arguments.find(place.substr(0, bar));
  if (argument == nullptr) return "?";
  return bar == std::string_view::npos ? spoken(*argument) : spokenAs(*argument, place.substr(bar + 1));
}

}  // namespace

std::optional<NodeId> Subject::nodeIn(const Graph& graph) const {
  return kind == SubjectKind::Node && place.bodies.isNetwork() ? graph.findNode(place.name) : std::nullopt;
}

std::string_view name(DecisionKind kind) {
  return kKindNames[static_cast<std::size_t>(kind)].second;
}

const DecisionCode* findDecisionCode(std::string_view code) {
  static const auto kByCode = [] {
    std::unordered_map<std::string_view, const DecisionCode*> byCode;
    for (const DecisionCode& entry : decisionCatalogue()) byCode.emplace(entry.code, &entry);
    return byCode;
  }();
  const auto found = kByCode.find(code);
  return found == kByCode.end() ? nullptr : found->second;
}

Decision decide(std::string_view code, std::vector<Subject> subjects, Cause by, DecisionArguments arguments) {
  const DecisionCode* entry = findDecisionCode(code);
  if (entry == nullptr) {
    std::fprintf(stderr, "decision code '%.*s' is not in the catalogue\n", static_cast<int>(code.size()), code.data());
    std::abort();
  }
  return {.kind = entry->kind,
          .code = std::string(code),
          .allowed = entry->allowed,
          .subjects = std::move(subjects),
          .by = std::move(by),
          .arguments = std::move(arguments),
          .evidence = {}};
}

void append(std::vector<Decision>& all, std::vector<Decision> added) {
  all.insert(all.end(), std::make_move_iterator(added.begin()), std::make_move_iterator(added.end()));
}

std::string message(const Decision& decision) {
  const DecisionCode* entry = findDecisionCode(decision.code);
  if (entry == nullptr) return decision.sentence.empty() ? decision.code : decision.sentence;
  std::string text;
  std::string_view rest = entry->sentence;
  while (!rest.empty()) {
    const std::size_t open = rest.find('{');
    const std::size_t close = open == std::string_view::npos ? open : rest.find('}', open);
    if (close == std::string_view::npos) break;
    text += rest.substr(0, open);
    text += filledIn(rest.substr(open + 1, close - open - 1), decision.arguments);
    rest.remove_prefix(close + 1);
  }
  return text.append(rest);
}

Json toJson(const Decision& decision) {
  Json subjects = Json::array();
  for (const Subject& subject : decision.subjects) {
    Json entry = Json::object();
    entry[kSubjectNames[static_cast<std::size_t>(subject.kind)].second] = subject.text();
    if (!subject.place.bodies.isNetwork()) entry["bodies"] = toJson(subject.place.bodies);
    if (!subject.identity.empty()) entry["identity"] = subject.identity;
    subjects.push_back(std::move(entry));
  }
  return {{"kind", name(decision.kind)},   {"code", decision.code},       {"allowed", decision.allowed},
          {"subjects", subjects},          {"by", decision.by.text()},    {"arguments", decision.arguments.toJson()},
          {"evidence", decision.evidence}, {"message", message(decision)}};
}

namespace {

/// Reads a decision whose code this version does not have, as its sentence, without subjects and evidence.
Result<Decision> ofAnotherVersion(const Json& json) {
  const auto kind = json.at("kind").get<std::string>();
  const auto known = std::ranges::find(kKindNames, kind, &std::pair<DecisionKind, std::string_view>::second);
  if (known == kKindNames.end())
    return Diagnostic{.message = "unknown kind of decision '" + kind + "'", .where = {.attribute = "kind"}};
  return Decision{.kind = known->first,
                  .code = json.at("code").get<std::string>(),
                  .allowed = json.at("allowed").get<bool>(),
                  .subjects = {},
                  .by = Cause::fromText(json.at("by").get<std::string>()),
                  .arguments = DecisionArguments::fromJson(json.at("arguments")),
                  .evidence = {},
                  .sentence = json.value("message", "")};
}

/// Older files contain only the text of a place.
NetworkPlace placeOf(const Json& subject, const char* key) {
  NetworkPlace place{{}, subject.at(key).get<std::string>()};
  if (!subject.contains("bodies")) return place;
  return placeFromText(bodyPathFromJson(subject.at("bodies")), place.name);
}

}  // namespace

Result<Decision> decisionFromJson(const Json& json) {
  try {
    const auto code = json.at("code").get<std::string>();
    std::vector<Subject> subjects;
    for (const Json& item : json.at("subjects"))
      for (const auto& [kind, key] : kSubjectNames)
        if (item.contains(key)) subjects.push_back({kind, placeOf(item, key), item.value("identity", "")});
    Cause by = Cause::fromText(json.at("by").get<std::string>());
    Decision decision = findDecisionCode(code) == nullptr
                            ? TRY(ofAnotherVersion(json))
                            : decide(code, {}, std::move(by), DecisionArguments::fromJson(json.at("arguments")));
    decision.subjects = std::move(subjects);
    decision.evidence = json.at("evidence").get<std::vector<std::uint32_t>>();
    return decision;
  } catch (const Json::exception& e) {
    return Diagnostic{.message = std::string("is not a decision: ") + e.what()};
  }
}

}  // namespace fusescope
