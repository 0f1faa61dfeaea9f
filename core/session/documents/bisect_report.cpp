#include "session/documents/bisect_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/json_fields.h"
#include "base/text.h"
#include "planning/plan_options_json.h"

namespace fusescope {
namespace {

const std::vector<std::string_view>& endNames() {
  static const std::vector<std::string_view> kNames{name(CulpritEnd::Found), name(CulpritEnd::NotWrong),
                                                    name(CulpritEnd::NoCulprit), name(CulpritEnd::OutOfBudget)};
  return kNames;
}

Result<BisectLevel> levelFromJson(const Json& json) {
  BisectLevel level;
  JsonFields fields(json);
  fields.require("level").read("level", level.level).readNumber("error", level.error);
  return fields.result(std::move(level));
}

Result<BisectStage> stageFromJson(const Json& json) {
  BisectStage stage;
  JsonFields fields(json);
  fields.require("what").read("what", stage.what).read("switches", stage.switches);
  fields.readName("end", endNames(), stage.found.end).readNumber("error_after", stage.found.after);
  fields.read("minimal", stage.found.minimal).read("builds", stage.found.builds);
  return fields.result(std::move(stage));
}

/// Returns the indexes of `names` among the switches of `stage`. Errors: a name is not among them.
Result<SwitchSet> placesOf(const std::vector<std::string>& names, const BisectStage& stage) {
  SwitchSet places;
  for (const std::string& name : names) {
    const auto found = std::ranges::find(stage.switches, name);
    if (found == stage.switches.end())
      return Diagnostic{.message = fmt::format("'{}' is not among what was switched off", name),
                        .where = {.attribute = "culprits"}};
    places.push_back(static_cast<std::uint32_t>(found - stage.switches.begin()));
  }
  return places;
}

}  // namespace

std::vector<std::string> culpritsOf(const BisectReport& report) {
  std::vector<std::string> names;
  if (const BisectStage* stage = report.stage())
    for (const std::uint32_t each : stage->found.off) names.push_back(stage->switches[each]);
  return names;
}

Json toJson(const BisectReport& report) {
  Json json = Json::object();
  json["end"] = name(report.end);
  json["before"] = jsonNumber(report.before);
  json["after"] = report.stage() != nullptr ? jsonNumber(report.stage()->found.after) : Json(nullptr);
  json["what"] = report.stage() != nullptr ? Json(report.stage()->what) : Json(nullptr);
  json["culprits"] = culpritsOf(report);
  json["levels"] = json["stages"] = Json::array();
  for (const BisectLevel& level : report.levels)
    json["levels"].push_back({{"level", level.level}, {"error", jsonNumber(level.error)}});
  for (const BisectStage& stage : report.stages)
    json["stages"].push_back({{"what", stage.what},
                              {"switches", stage.switches},
                              {"end", name(stage.found.end)},
                              {"error_after", jsonNumber(stage.found.after)},
                              {"minimal", stage.found.minimal},
                              {"builds", stage.found.builds}});
  json["options"] = report.options;
  json["honoured"] = report.honoured ? Json(*report.honoured) : Json(nullptr);
  json["builds"] = report.builds;
  json["seconds"] = report.seconds;
  return json;
}

Result<BisectReport> bisectReportFromJson(const Json& json) {
  BisectReport report;
  std::vector<std::string> culprits;
  JsonFields fields(json);
  fields.require("end").readName("end", endNames(), report.end).readNumber("before", report.before);
  fields.parseList("levels", report.levels, levelFromJson).parseList("stages", report.stages, stageFromJson);
  fields.read("culprits", culprits).read("options", report.options);
  fields.read("builds", report.builds).readNumber("seconds", report.seconds);
  fields.parse("plan_options", report.without, planOptionsOfField);
  if (!fields.error() && json.contains("honoured") && json["honoured"].is_boolean())
    report.honoured = json["honoured"].get<bool>();
  if (fields.error()) return *fields.error();
  if (report.end == CulpritEnd::Found && report.stages.empty())
    return Diagnostic{.message = "is found, but no stage says what kind of thing it is",
                      .where = {.attribute = "stages"}};
  if (!culprits.empty() && report.stage() == nullptr)
    return Diagnostic{.message = "are given, although none was found", .where = {.attribute = "culprits"}};
  if (report.stage() != nullptr) report.stages.back().found.off = TRY(placesOf(culprits, report.stages.back()));
  return report;
}

std::string bisectErrorText(double error) {
  if (std::isnan(error)) return "not tried";
  return std::isfinite(error) ? fmt::format("{:.3g}", error) : "not finite";
}

std::string inWords(const BisectStage& stage) {
  switch (stage.found.end) {
    case CulpritEnd::Found:
      return fmt::format("right without {} of them", stage.found.off.size());
    case CulpritEnd::NotWrong:
      return "right";
    case CulpritEnd::NoCulprit:
      return fmt::format("wrong without all of them, too ({})", bisectErrorText(stage.found.after));
    case CulpritEnd::OutOfBudget:
      return "not searched to the end";
  }
  return {};
}

namespace {

std::vector<std::string> culpritsInWords(const BisectReport& report, double tolerance) {
  const BisectStage& stage = *report.stage();
  std::vector<std::string> lines{fmt::format("found: without {} {} the error is {} instead of {} (at most {} is right)",
                                             stage.what, joined(culpritsOf(report)), bisectErrorText(stage.found.after),
                                             bisectErrorText(report.before), bisectErrorText(tolerance))};
  if (stage.found.minimal) lines.emplace_back("none of them can be left switched on: each was tried");
  if (report.honoured)
    lines.emplace_back(*report.honoured ? "the compiler confirms that they were switched off"
                                        : "but the compiler reports that it used them all the same");
  lines.push_back("switch them off with: " + joined(report.options, " "));
  return lines;
}

}  // namespace

std::vector<std::string> inWords(const BisectReport& report, double tolerance) {
  const std::string before = bisectErrorText(report.before);
  switch (report.end) {
    case CulpritEnd::Found:
      return culpritsInWords(report, tolerance);
    case CulpritEnd::NotWrong:
      return {fmt::format("nothing is wrong: the error is {}, and at most {} is right", before,
                          bisectErrorText(tolerance))};
    case CulpritEnd::NoCulprit:
      return {fmt::format("no culprit was found: the error is {}, and nothing that can be switched off makes it right",
                          before)};
    case CulpritEnd::OutOfBudget:
      return {fmt::format("the search was ended before it found a culprit; the error is {}", before)};
  }
  return {};
}

}  // namespace fusescope
