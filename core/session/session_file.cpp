#include "session/session_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <utility>

#include "base/files.h"
#include "base/json_fields.h"
#include "base/user_json.h"
#include "planning/plan_options_json.h"
#include "session/inputs/sample_source.h"
#include "session/options_json.h"

namespace fusescope {
namespace fs = std::filesystem;

namespace {

constexpr std::string_view kFormat = "fusescope.session";
/// The format is the first key of the document, so that the beginning of the file is enough to recognise it.
constexpr std::size_t kHead = 256;

Diagnostic located(Diagnostic error, const fs::path& path) {
  error.where.file = path.string();
  return error;
}

Diagnostic bad(std::string message, std::string field) {
  return {.message = std::move(message), .where = {.attribute = std::move(field)}};
}

/// Changes paths of inputs, which are relative to the session file.
using ChangePath = std::string (*)(const std::string& path, const fs::path& folder);

SampleSource changed(SampleSource inputs, ChangePath change, const fs::path& folder) {
  for (std::string& path : inputs.paths) path = change(path, folder);
  return inputs;
}

/// Changes all inputs of a run. Parts that do not change remain shared.
void changeInputs(Run& run, ChangePath change, const fs::path& folder) {
  const auto put = [&](auto& shared) {
    if (!shared) return;
    SampleSource inputs = changed(std::as_const(shared)->inputs, change, folder);
    if (inputs != std::as_const(shared)->inputs) shared->inputs = std::move(inputs);
  };
  put(run.time);
  put(run.serving);
  put(run.comparison);
  for (auto& evaluation : run.evaluations) put(evaluation);
  for (auto& errors : run.errors) put(errors);
}

/// Checks what types of JSON do not: that ids are unique, and that they refer to existing runs of the right kind.
Status checkIds(const Session& session) {
  const auto check = [&](const std::string& id, bool comparison, const std::string& field) -> Status {
    const Run* run = session.run(id);
    if (run == nullptr) return bad("there is no run '" + id + "'", field);
    if ((run->kind == RunKind::Comparison) != comparison)
      return bad(fmt::format("run '{}' is {} comparison", id, comparison ? "no" : "a"), field);
    return Done{};
  };
  for (std::size_t i = 0; i < session.runs.size(); ++i) {
    const Run& run = session.runs[i];
    if (session.run(run.id) != &run) return bad("two runs have the id '" + run.id + "'", "runs");
    if (run.kind != RunKind::Comparison) continue;
    const std::string field = fmt::format("runs[{}].comparison", i);
    if (!run.comparison) return bad("is missing", field);
    TRY(check(run.comparison->a, false, field + ".a"));
    TRY(check(run.comparison->b, false, field + ".b"));
  }
  if (!session.shown.empty()) TRY(check(session.shown, false, "shown"));
  if (!session.comparedWith.empty()) TRY(check(session.comparedWith, false, "compared_with"));
  if (!session.comparison.empty()) TRY(check(session.comparison, true, "comparison"));
  return Done{};
}

/// Returns `options` without their ranges, which are stored once in the session.
Json optionsJson(PlanOptions options, SessionRanges& ranges) {
  const Json place = ranges.add(std::exchange(options.ranges, nullptr));
  Json json = toJson(options);
  if (!place.is_null()) json["ranges"] = place;
  return json;
}

Json runJson(Run run, const fs::path& folder, SessionRanges& ranges) {
  changeInputs(run, relativeTo, folder);
  const PlanOptions options = run.options;
  run.options.ranges.reset();
  Json json = toJson(run);
  json["options"] = optionsJson(options, ranges);
  return json;
}

/// Returns whether the options refer to ranges of the session. Options of older versions contain their ranges.
bool refersToRanges(const Json& options) {
  return options.is_object() && options.contains("ranges") && !options["ranges"].is_object();
}

Result<PlanOptions> optionsFromJson(Json json, const SessionRanges& ranges) {
  if (!refersToRanges(json)) return planOptionsOfField(json);
  auto of = ranges.at(json["ranges"]);
  if (!of.ok()) return bad(of.error().message, "ranges");
  json.erase("ranges");
  PlanOptions options = TRY(planOptionsOfField(json));
  options.ranges = std::move(of).value();
  return options;
}

Result<Run> readRun(const Json& json, const SessionRanges& ranges) {
  if (!json.is_object() || !json.contains("options") || !refersToRanges(json["options"])) return runFromJson(json);
  auto options = optionsFromJson(json["options"], ranges);
  if (!options.ok()) return bad(options.error().message, "options." + options.error().where.attribute);
  Json without = json;
  without["options"].erase("ranges");
  Run run = TRY(runFromJson(without));
  run.options = std::move(options).value();
  return run;
}

}  // namespace

const Run* Session::run(const std::string& id) const {
  const auto found = std::ranges::find(runs, id, &Run::id);
  return found == runs.end() ? nullptr : &*found;
}

Run* Session::run(const std::string& id) {
  return const_cast<Run*>(std::as_const(*this).run(id));
}

Json toJson(const Session& session, const fs::path& folder) {
  SessionRanges ranges;
  const Json calibrated = ranges.add(session.calibrated.ranges);
  Json json = {{"format", kFormat},
               {"version", kSessionVersion},
               {"id", session.id},
               {"saved_as", session.savedAs},
               {"model", toJson(session.model, folder)},
               {"extents", toJson(session.extents)},
               {"options", optionsJson(session.options, ranges)},
               {"calibrated", calibrated},
               {"inputs", toJson(changed(session.settings.inputs, relativeTo, folder))},
               {"tolerance", toJson(session.settings.tolerance)},
               {"backend", session.settings.backend},
               {"threads", session.settings.threads},
               {"seconds", session.settings.seconds},
               {"errors_against", name(session.settings.errorsAgainst)},
               {"tune", settingsJson(session.settings.tune)}};
  json["runs"] = Json::array();
  for (const Run& run : session.runs) json["runs"].push_back(runJson(run, folder, ranges));
  json["ranges"] = ranges.toJson();
  json["shown"] = session.shown;
  json["compared_with"] = session.comparedWith;
  json["comparison"] = session.comparison;
  json["next_run"] = session.nextRun;
  json["view"] = session.view;
  return json;
}

namespace {

/// Returns the version. Errors: the file is not a session, or its version is newer than this program.
Result<int> versionOf(const Json& json) {
  TRY(checkFormat(json, "a session", kFormat, kSessionVersion));
  int version = 0;
  JsonFields fields(json);
  fields.read("version", version);
  if (!fields.error() && (version < 1 || version > kSessionVersion))
    return Diagnostic{.message = fmt::format("the session is of version {}, but this program reads versions up to {}",
                                             version, kSessionVersion),
                      .where = {.attribute = "version"},
                      .help = "Open it with a newer Fusescope."};
  return fields.result(version);
}

}  // namespace

Result<Session> sessionFromJson(const Json& document, const fs::path& folder) {
  const int version = TRY(versionOf(document));
  const Json upgraded = version == kSessionVersion ? Json() : upToDate(document, version);
  const Json& json = version == kSessionVersion ? document : upgraded;
  if (version == kSessionVersion) TRY(checkKeys(json, keysOf(toJson(Session(), folder)), "", "a session"));
  Session session;
  JsonFields fields(json);
  fields.read("id", session.id)
      .read("saved_as", session.savedAs)
      .require("model")
      .parse("model", session.model, [&](const Json& model) { return modelFileFromJson(model, folder); });
  fields.parse("extents", session.extents, inputOverridesFromJson);
  SessionRanges ranges;
  fields.parse("ranges", ranges, SessionRanges::fromJson);
  const auto ofPlace = [&](const Json& place) { return ranges.at(place); };
  fields.parse("calibrated", session.calibrated.ranges, ofPlace);
  fields.parse("options", session.options, [&](const Json& options) { return optionsFromJson(options, ranges); });
  fields.parse("inputs", session.settings.inputs, sampleSourceFromJson);
  fields.parse("tolerance", session.settings.tolerance, toleranceFromJson);
  fields.read("backend", session.settings.backend)
      .read("threads", session.settings.threads)
      .readNumber("seconds", session.settings.seconds);
  fields.readName("errors_against", errorsAgainstNames(), session.settings.errorsAgainst);
  // Values that were written by an earlier version or by hand may be out of range; the search then begins with the
  // defaults.
  fields.parse("tune", session.settings.tune, [](const Json& tune) -> Result<TuneSettings> {
    auto settings = settingsFromJson<TuneSettings>(tune);
    return settings.ok() ? std::move(settings).value() : TuneSettings();
  });
  fields.parseList("runs", session.runs, [&](const Json& run) { return readRun(run, ranges); });
  fields.read("shown", session.shown).read("compared_with", session.comparedWith);
  fields.read("comparison", session.comparison);
  fields.read("next_run", session.nextRun).read("view", session.view);
  if (fields.error()) return *fields.error();
  session.settings.inputs = changed(std::move(session.settings.inputs), resolved, folder);
  TRY(checkIds(session));
  for (Run& run : session.runs) {
    changeInputs(run, resolved, folder);
    if (!run.working()) continue;
    run.state = RunState::Interrupted;
    run.problem = "The program ended while this run was under way.";
  }
  return session;
}

Result<Session> readSession(const fs::path& path) {
  const auto json = parseUserJson(TRY(readTextFile(path)));
  if (!json.ok()) {
    Diagnostic error = json.error();
    error.help = "A session is saved by the window: File, Save session.";
    return located(std::move(error), path);
  }
  auto session = sessionFromJson(json.value(), path.parent_path().empty() ? fs::path(".") : path.parent_path());
  if (!session.ok()) return located(std::move(session).error(), path);
  return session;
}

Status writeSession(const fs::path& path, const Session& session) {
  const fs::path folder = path.parent_path().empty() ? fs::path(".") : path.parent_path();
  return writeFileAtomically(path, toJson(session, folder).dump(1, ' ', false, Json::error_handler_t::replace) + "\n");
}

bool isSessionFile(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::string head(kHead, '\0');
  file.read(head.data(), static_cast<std::streamsize>(head.size()));
  head.resize(static_cast<std::size_t>(file.gcount()));
  return head.find("\"" + std::string(kFormat) + "\"") != std::string::npos;
}

}  // namespace fusescope
