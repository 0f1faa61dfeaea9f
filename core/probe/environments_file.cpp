#include "probe/environments_file.h"

#include <fmt/format.h>
#include <sys/file.h>

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "base/files.h"
#include "base/json_fields.h"
#include "base/user_json.h"
#include "probe/started_process.h"

namespace fusescope {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kFormat = "fusescope-environments";
constexpr int kEnvironmentsVersion = 1;

Result<fs::path> configurationFolder() {
  if (const char* set = std::getenv("XDG_CONFIG_HOME"); set != nullptr && fs::path(set).is_absolute())
    return fs::path(set) / "fusescope";
  const char* home = std::getenv("HOME");
  if (home == nullptr || *home == '\0')
    return Diagnostic{.message =
                          "there is no folder for the user's configuration: neither XDG_CONFIG_HOME nor HOME is set"};
  return fs::path(home) / ".config" / "fusescope";
}

Result<Environment> environmentFrom(const Json& json) {
  Environment environment;
  JsonFields fields(json);
  fields.require("name").read("name", environment.name);
  fields.require("command").read("command", environment.command);
  fields.read("keeps_files", environment.keepsFiles).readCount("memory_bytes", environment.memoryBytes);
  return fields.result(environment);
}

Result<std::string> textFrom(const Json& json) {
  if (!json.is_string()) return Diagnostic{.message = "must be a text"};
  return json.get<std::string>();
}

Result<EnvironmentsFile> parsed(const std::string& text) {
  const Json json = TRY(parseUserJson(text));
  TRY(checkFormat(json, "a file of environments", kFormat, kEnvironmentsVersion));
  if (json["version"] != kEnvironmentsVersion)
    return Diagnostic{
        .message = fmt::format("version {} of the file of environments cannot be read", json["version"].dump()),
        .where = {.attribute = "version"},
        .help = fmt::format("This Fusescope reads version {}.", kEnvironmentsVersion)};
  EnvironmentsFile file;
  JsonFields fields(json);
  fields.parseList("environments", file.environments, environmentFrom);
  fields.parseList("confirmed", file.confirmed, textFrom);
  return fields.result(std::move(file));
}

Result<EnvironmentsFile> readFile(const fs::path& path) {
  std::error_code ignored;
  if (!fs::exists(path, ignored)) return EnvironmentsFile{};
  auto file = parsed(TRY(readTextFile(path)));
  if (file.ok()) return file;
  Diagnostic error = file.error();
  error.where.file = path.string();
  return error;
}

std::string written(const EnvironmentsFile& file) {
  Json json{{"format", kFormat},
            {"version", kEnvironmentsVersion},
            {"environments", Json::array()},
            {"confirmed", file.confirmed}};
  for (const Environment& environment : file.environments) {
    Json entry{{"name", environment.name}, {"command", environment.command}};
    if (environment.keepsFiles) entry["keeps_files"] = true;
    if (environment.memoryBytes) entry["memory_bytes"] = *environment.memoryBytes;
    json["environments"].push_back(std::move(entry));
  }
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace

void EnvironmentsFile::confirm(std::string_view command) {
  if (std::ranges::find(confirmed, command) == confirmed.end()) confirmed.emplace_back(command);
}

Result<EnvironmentsFile> readEnvironmentsFile() {
  return readFile(TRY(configurationFolder()) / "environments.json");
}

Status changeEnvironmentsFile(const std::function<Status(EnvironmentsFile&)>& change) {
  const fs::path folder = TRY(configurationFolder());
  std::error_code failed;
  fs::create_directories(folder, failed);
  const Descriptor lock(::open((folder / "environments.lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!lock.isOpen() || ::flock(lock.number(), LOCK_EX) != 0)
    return Diagnostic{.message = fmt::format("cannot be written to: {}", std::strerror(errno)),
                      .where = {.file = folder.string()}};
  EnvironmentsFile file = TRY(readFile(folder / "environments.json"));
  TRY(change(file));
  return writeFileAtomically(folder / "environments.json", written(file));
}

}  // namespace fusescope
