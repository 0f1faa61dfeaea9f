#include "session/session_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <fstream>

#include "base/files.h"
#include "base/json_fields.h"
#include "base/mapped_file.h"
#include "planning/plan_json.h"
#include "session/options_json.h"

namespace fusescope {
namespace fs = std::filesystem;

namespace {

constexpr std::string_view kFormat = "fusescope.session";
/// The format is the first key of the document; so much of a file shows it.
constexpr std::size_t kHead = 256;

std::string relativeTo(const std::string& path, const fs::path& folder) {
  if (path.empty()) return path;
  std::error_code error;
  const fs::path absolute = fs::absolute(path, error);
  const fs::path relative = absolute.lexically_relative(fs::absolute(folder, error));
  const bool below = !relative.empty() && *relative.begin() != "..";
  return below ? relative.string() : absolute.string();
}

std::string resolved(const std::string& path, const fs::path& folder) {
  if (path.empty() || fs::path(path).is_absolute()) return path;
  return (folder / path).lexically_normal().string();
}

Json toJson(const ModelFile& model, const fs::path& folder) {
  return {{"path", relativeTo(model.path, folder)}, {"content", model.content}, {"bytes", model.bytes}};
}

Result<ModelFile> modelFileFromJson(const Json& json, const fs::path& folder) {
  ModelFile model;
  JsonFields fields(json);
  fields.require("path").read("path", model.path).read("content", model.content).read("bytes", model.bytes);
  if (fields.error()) return *fields.error();
  model.path = resolved(model.path, folder);
  return model;
}

Diagnostic located(Diagnostic error, const fs::path& path) {
  error.where.file = path.string();
  return error;
}

/// Checks what JSON types alone do not: ids that are unique and name runs that there are.
Status checkIds(const Session& session) {
  for (std::size_t i = 0; i < session.runs.size(); ++i) {
    const std::string& id = session.runs[i].id;
    if (session.run(id) != &session.runs[i])
      return Diagnostic{.message = "two runs have the id '" + id + "'", .where = {.attribute = "runs"}};
  }
  for (const auto& [field, id] : std::array<std::pair<const char*, std::string>, 2>{
           {{"shown", session.shown}, {"compared_with", session.comparedWith}}}) {
    if (!id.empty() && session.run(id) == nullptr)
      return Diagnostic{.message = "there is no run '" + id + "'", .where = {.attribute = field}};
  }
  return Done{};
}

}  // namespace

Result<ModelFile> identify(const fs::path& path) {
  const auto file = TRY(MappedFile::open(path));
  std::error_code error;
  const fs::path absolute = fs::absolute(path, error);
  ModelFile identified{.path = error ? path.string() : absolute.lexically_normal().string(),
                       .content = hashBytes(file->bytes()).hex(),
                       .bytes = static_cast<std::int64_t>(file->bytes().size())};
  TRY(file->checkIntact());
  return identified;
}

const Run* Session::run(const std::string& id) const {
  const auto found = std::ranges::find(runs, id, &Run::id);
  return found == runs.end() ? nullptr : &*found;
}

Run* Session::run(const std::string& id) {
  return const_cast<Run*>(std::as_const(*this).run(id));
}

Json toJson(const Session& session, const fs::path& folder) {
  Json json = {{"format", kFormat},
               {"version", kSessionVersion},
               {"id", session.id},
               {"saved_as", session.savedAs},
               {"model", toJson(session.model, folder)},
               {"extents", toJson(session.extents)},
               {"options", toJson(session.options)},
               {"inputs", relativeTo(session.settings.inputs, folder)},
               {"tolerance", toJson(session.settings.tolerance)},
               {"backend", session.settings.backend},
               {"threads", session.settings.threads},
               {"seconds", session.settings.seconds}};
  json["runs"] = Json::array();
  for (const Run& run : session.runs) json["runs"].push_back(toJson(run));
  json["comparisons"] = Json::array();
  for (const RunComparison& comparison : session.comparisons) json["comparisons"].push_back(toJson(comparison));
  json["shown"] = session.shown;
  json["compared_with"] = session.comparedWith;
  json["next_run"] = session.nextRun;
  json["view"] = session.view;
  return json;
}

Result<Session> sessionFromJson(const Json& json, const fs::path& folder) {
  Session session;
  std::string format;
  int version = 0;
  JsonFields fields(json);
  fields.require("format").read("format", format).require("version").read("version", version);
  if (!fields.error() && format != kFormat)
    return Diagnostic{.message = fmt::format("this is not a session (its format is not \"{}\")", kFormat),
                      .where = {.attribute = "format"}};
  if (!fields.error() && (version < 1 || version > kSessionVersion))
    return Diagnostic{
        .message = fmt::format("the session is of version {}, this program reads up to {}", version, kSessionVersion),
        .where = {.attribute = "version"},
        .help = "Open it with a newer Fusescope."};
  fields.read("id", session.id)
      .read("saved_as", session.savedAs)
      .require("model")
      .parse("model", session.model, [&](const Json& model) { return modelFileFromJson(model, folder); });
  fields.parse("extents", session.extents, inputOverridesFromJson);
  fields.parse("options", session.options, planOptionsFromJson);
  fields.read("inputs", session.settings.inputs).parse("tolerance", session.settings.tolerance, toleranceFromJson);
  fields.read("backend", session.settings.backend)
      .read("threads", session.settings.threads)
      .readNumber("seconds", session.settings.seconds);
  fields.parseList("runs", session.runs, runFromJson);
  fields.parseList("comparisons", session.comparisons, runComparisonFromJson);
  fields.read("shown", session.shown).read("compared_with", session.comparedWith);
  fields.read("next_run", session.nextRun).read("view", session.view);
  if (fields.error()) return *fields.error();
  session.settings.inputs = resolved(session.settings.inputs, folder);
  TRY(checkIds(session));
  for (Run& run : session.runs) {
    if (!run.working()) continue;
    run.state = RunState::Interrupted;
    run.problem = "The program ended while this was under way.";
  }
  return session;
}

Result<Session> readSession(const fs::path& path) {
  const Json json = Json::parse(TRY(readTextFile(path)), nullptr, false);
  if (json.is_discarded())
    return Diagnostic{.message = "this is not complete JSON",
                      .where = {.file = path.string()},
                      .help = "A session is saved by the window: File, Save session."};
  auto session = sessionFromJson(json, path.parent_path().empty() ? fs::path(".") : path.parent_path());
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

ModelChange modelChange(const ModelFile& model) {
  std::error_code error;
  const auto bytes = fs::file_size(model.path, error);
  if (error) return ModelChange::Missing;
  if (model.content.empty()) return ModelChange::Same;
  if (static_cast<std::int64_t>(bytes) != model.bytes) return ModelChange::Changed;
  const auto now = identify(model.path);
  return !now.ok()                              ? ModelChange::Missing
         : now.value().content == model.content ? ModelChange::Same
                                                : ModelChange::Changed;
}

}  // namespace fusescope
