#include "compilers/probed/known_environment.h"

#include "base/version.h"
#include "probe/environments.h"
#include "probe/frames.h"
#include "probe/probe_archive.h"
#include "probe/sha256.h"
#include "probe/witness.h"

namespace fusescope {
namespace {

constexpr const char* kEnvironmentKind = "environment";

/// A change of anything here has the environment looked at again.
std::string keyOfRecord(std::string_view compiler, const Environment& environment) {
  const Json key{{"format", "fusescope.environment.1"},
                 {"compiler", compiler},
                 {"command", environment.command},
                 {"probe", probeVersion()},
                 {"here", factsOfThisMachine()}};
  return key.dump(-1, ' ', false, Json::error_handler_t::replace);
}

/// What is kept of an environment: {program, witness, opened}; null: nothing.
Json recordOf(DiskStore& store, std::string_view compiler, const Environment& environment) {
  const auto kept = store.find(kEnvironmentKind, keyOfRecord(compiler, environment));
  if (!kept) return nullptr;
  Json record = Json::parse(kept->bytes, nullptr, false);
  const bool isOne = record.is_object() && record.contains("witness") && record.contains("opened") &&
                     record.contains("program") && record["witness"].is_object();
  return isOne ? record : Json();
}

/// Whether the command is still the same Python, on this machine, with the same packages.
bool isHereUnchanged(const Environment& environment, const Json& record) {
  const std::filesystem::path program = programOf(environment.command);
  std::error_code failed;
  if (program.empty() || program.string() != textOf(record, "program")) return false;
  const std::filesystem::path real = std::filesystem::canonical(program, failed);
  return !failed && real.string() == textOf(record["witness"], "executable") && isUnchanged(record["witness"]);
}

std::string sha256Of(const std::string& text) {
  Sha256 hash;
  hash.add(text);
  return hash.hex();
}

}  // namespace

Result<std::optional<UnchangedEnvironment>> knownEnvironment(DiskStore& store, std::string_view compiler,
                                                             std::span<const Environment> candidates,
                                                             const StopToken& stop) {
  for (const Environment& environment : candidates) {
    if (!isConfirmed(environment.command)) break;
    const Json record = recordOf(store, compiler, environment);
    if (record.is_null()) break;
    if (!isHereUnchanged(environment, record)) {
      const auto now = askWitness(environment, compiler, stop);
      if (!now.ok() && now.error().cancelled) return now.error();
      if (!now.ok() || now.value() != record["witness"]) break;
    }
    if (!record["opened"].is_null())
      return std::optional(UnchangedEnvironment{environment, record["opened"], record["witness"]});
  }
  return std::optional<UnchangedEnvironment>();
}

void keepEnvironment(DiskStore& store, std::string_view compiler, const Environment& environment, const Json& witness,
                     const Json& opened, double ms) {
  const bool isTold = opened.is_null() ? textOf(witness, "why_not").empty() : whyNotKept(witness).empty();
  if (!isTold) return;
  const Json record{{"program", programOf(environment.command).string()}, {"witness", witness}, {"opened", opened}};
  store.keep({.kind = kEnvironmentKind,
              .about = std::string(compiler) + " in " + environment.command,
              .madeBy = std::string(kFusescopeVersion),
              .madeMs = ms},
             keyOfRecord(compiler, environment), record.dump(-1, ' ', false, Json::error_handler_t::replace));
}

Json environmentFields(const Json& witness, const Json& opened) {
  Json fields{
      {"python", witness.value("python", Json())},       {"executable", witness.value("executable", Json())},
      {"packages", witness.value("packages", Json())},   {"files", sha256Of(witness.value("files", Json()).dump())},
      {"variables", witness.value("variables", Json())}, {"machine", witness.value("machine", Json())}};
  fields["devices"] = opened.is_object() ? opened.value("devices", Json()) : Json();
  return fields;
}

std::string whyNotKept(const Json& witness) {
  if (!witness.is_object()) return "its environment does not say what is in it";
  const std::string why = textOf(witness, "why_not");
  if (why.empty() && witness.value("is_there", Json()) != true)
    return "none of its packages is installed there, so that nothing says which one it is";
  return why;
}

bool holdsStill(const Environment& environment, std::string_view compiler, const Json& witness, const StopToken& stop) {
  if (!programOf(environment.command).empty() && isUnchanged(witness)) return true;
  const auto now = askWitness(environment, compiler, stop);
  return now.ok() && now.value() == witness;
}

}  // namespace fusescope
