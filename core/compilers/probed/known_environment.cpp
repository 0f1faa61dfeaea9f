#include "compilers/probed/known_environment.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "base/version.h"
#include "probe/command_words.h"
#include "probe/environments.h"
#include "probe/frames.h"
#include "probe/probe_archive.h"
#include "probe/sha256.h"
#include "probe/witness.h"

namespace fusescope {
namespace {

constexpr const char* kEnvironmentKind = "environment";

/// Returns the current folder if a relative path makes it determine which packages Python finds, otherwise an empty
/// text.
std::string folderThatCounts(const Json& here) {
  const std::string path = textOf(here["variables"], "PYTHONPATH");
  for (const std::string& folder : split(path, ':'))
    if (!path.empty() && !folder.starts_with('/')) {
      std::error_code none;
      return std::filesystem::current_path(none).string();
    }
  return {};
}

/// Returns whether the compiler found no card although there may be one whose driver starts working in a moment.
bool mayHaveMissedCards(const Json& witness, const Json& opened) {
  if (!opened.is_object() || textOf(opened.value("about", Json::object()), "why_no_device").empty()) return false;
  const Json machine = witness.value("machine", Json::object());
  const Json devices = machine.value("devices", Json::array());
  return !textOf(machine, "driver").empty() || std::ranges::any_of(devices, [](const Json& device) {
    const std::string name = device.is_string() ? device.get<std::string>() : std::string();
    return name.starts_with("nvidia") || name.starts_with("dxg");
  });
}

/// Returns what the driver reports about a card, without the fields that differ between two cards of one model.
Json cardFields(const Json& card) {
  constexpr std::array kOfOneCard{"IRQ", "GPU UUID", "Bus Location", "Device Minor"};
  std::string kept;
  for (const std::string& line : split(card.is_string() ? card.get<std::string>() : std::string(), '\n'))
    if (std::ranges::none_of(kOfOneCard, [&](const char* field) { return line.starts_with(field); }))
      kept += line + "\n";
  return kept;
}

/// Returns the machine without the fields that do not affect compilers: the microcode, and the release of the system if
/// no driver of the system runs a card.
Json machineFields(Json machine) {
  if (!machine.is_object()) return machine;
  if (machine.contains("cpu") && machine["cpu"].is_object()) machine["cpu"].erase("microcode");
  if (machine.value("devices", Json::array()).empty()) machine.erase("system");
  if (machine.contains("cards") && machine["cards"].is_array())
    for (Json& card : machine["cards"]) card = cardFields(card);
  return machine;
}

/// Returns the key of an environment's record. If anything in it changes, the environment is examined again.
std::string keyOfRecord(std::string_view compiler, const Environment& environment) {
  const Json here = factsOfThisMachine();
  const Json key{{"format", "fusescope.environment.3"}, {"compiler", compiler},
                 {"command", environment.command},      {"probe", probeVersion()},
                 {"folder", folderThatCounts(here)},    {"here", here}};
  return key.dump(-1, ' ', false, Json::error_handler_t::replace);
}

/// Returns what is kept about an environment: {program, witness, opened}; null if nothing is.
Json recordOf(KeptStore& store, std::string_view compiler, const Environment& environment) {
  const auto kept = store.find(kEnvironmentKind, keyOfRecord(compiler, environment));
  if (!kept) return nullptr;
  Json record = Json::parse(kept->bytes, nullptr, false);
  const bool isOne = record.is_object() && record.contains("witness") && record.contains("opened") &&
                     record.contains("program") && record["witness"].is_object();
  return isOne ? record : Json();
}

/// Returns whether the command is still the same Python, on this machine, with the same packages.
bool isHereUnchanged(const Environment& environment, const Json& record) {
  const std::filesystem::path program = programOf(environment.command);
  std::error_code failed;
  if (program.empty() || program.string() != textOf(record, "program")) return false;
  const std::filesystem::path real = std::filesystem::canonical(program, failed);
  return !failed && real.string() == textOf(record["witness"], "executable") && isUnchanged(record["witness"]);
}

}  // namespace

Result<std::optional<UnchangedEnvironment>> knownEnvironment(KeptStore& store, std::string_view compiler,
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

void keepEnvironment(KeptStore& store, std::string_view compiler, const Environment& environment, const Json& witness,
                     const Json& opened, double ms) {
  const bool mayBeKept = opened.is_null() ? textOf(witness, "why_not").empty() : whyNotKept(witness).empty();
  if (!mayBeKept || mayHaveMissedCards(witness, opened)) return;
  const Json record{{"program", programOf(environment.command).string()}, {"witness", witness}, {"opened", opened}};
  store.keep({.kind = kEnvironmentKind,
              .about = std::string(compiler) + " in " + environment.command,
              .madeBy = std::string(kFusescopeVersion),
              .madeMs = ms},
             keyOfRecord(compiler, environment), record.dump(-1, ' ', false, Json::error_handler_t::replace));
}

Json environmentFields(const Json& witness, const Json& opened) {
  Json variables = witness.value("variables", Json());
  // The answers do not depend on where the packages are, but only on which packages are found.
  if (variables.is_object())
    for (const char* place : {"VIRTUAL_ENV", "CONDA_PREFIX"}) variables.erase(place);
  return {{"python", witness.value("python", Json())},
          {"implementation", witness.value("implementation", Json())},
          {"packages", witness.value("packages", Json())},
          {"variables", std::move(variables)},
          {"machine", machineFields(witness.value("machine", Json::object()))},
          {"devices", opened.is_object() ? opened.value("devices", Json()) : Json()}};
}

std::string whyNotKept(const Json& witness) {
  if (!witness.is_object()) return "its environment does not say which packages it contains";
  const std::string why = textOf(witness, "why_not");
  if (why.empty() && witness.value("is_there", Json()) != true)
    return "none of its packages is installed there, so its version is not known";
  return why;
}

bool isWitnessValid(const Environment& environment, std::string_view compiler, const Json& witness,
                    const StopToken& stop) {
  if (!programOf(environment.command).empty() && isUnchanged(witness)) return true;
  const auto now = askWitness(environment, compiler, stop);
  return now.ok() && now.value() == witness;
}

}  // namespace fusescope
