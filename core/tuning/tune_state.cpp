#include "tuning/tune_state.h"

#include <charconv>
#include <cmath>
#include <optional>

#include "base/files.h"
#include "base/json.h"

namespace fusescope {
namespace {

constexpr const char* kFormat = "fusescope.tuning";
constexpr int kVersion = 2;

Diagnostic stateError(const std::filesystem::path& path, std::string message, std::string field,
                      std::string help = {}) {
  return {.message = std::move(message),
          .where = {.file = path.string(), .attribute = std::move(field)},
          .help = std::move(help)};
}

std::optional<std::uint64_t> fromHex(std::string_view digits) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number, 16);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return number;
}

std::optional<Hash128> hashFromHex(std::string_view text) {
  if (text.size() != 32) return std::nullopt;
  const auto high = fromHex(text.substr(0, 16)), low = fromHex(text.substr(16));
  if (!high || !low) return std::nullopt;
  return Hash128{*high, *low};
}

std::optional<double> errorFrom(const Json& json) {
  if (json.is_number()) return json.get<double>();
  if (json == "inf") return INFINITY;
  if (json == "-inf") return -INFINITY;
  return std::nullopt;
}

}  // namespace

Result<TuneMemory> readTuneState(const std::filesystem::path& path, const Hash128& key) {
  std::error_code missing;
  if (!std::filesystem::exists(path, missing)) return TuneMemory();
  const Json json = Json::parse(TRY(readTextFile(path)), nullptr, false);
  if (!json.is_object() || json.value("format", Json()) != kFormat)
    return stateError(path, "this file is not the state of a search", "format", "Give a file that --resume wrote.");
  if (json.value("version", Json()) != kVersion)
    return stateError(path, "this state is of another version", "version",
                      "Start a new search with another file, because version 1 did not distinguish all inputs.");
  if (json.value("key", Json()) != key.hex())
    return stateError(path, "this state belongs to a search with another network, other inputs or other options", "key",
                      "Give the same network, inputs and options, or start a new search with another file.");
  TuneMemory memory;
  const Json evaluations = json.value("evaluations", Json());
  if (!evaluations.is_array()) return stateError(path, "must be a list", "evaluations");
  for (const Json& entry : evaluations) {
    const bool named = entry.is_object() && entry.contains("effect") && entry["effect"].is_string();
    const auto effect = named ? hashFromHex(entry["effect"].get<std::string>()) : std::nullopt;
    const auto error = entry.is_object() && entry.contains("error") ? errorFrom(entry["error"]) : std::nullopt;
    if (!effect || !error)
      return stateError(path, "an evaluation must have an effect of 32 hexadecimal digits and an error",
                        "evaluations[" + std::to_string(memory.errors.size()) + "]");
    memory.errors.emplace(*effect, *error);
    if (const auto there = errorFrom(entry.value("reference", Json()))) memory.onReference.emplace(*effect, *there);
  }
  return memory;
}

Status writeTuneState(const std::filesystem::path& path, const Hash128& key, const TuneMemory& memory) {
  Json json = {{"format", kFormat}, {"version", kVersion}, {"key", key.hex()}, {"evaluations", Json::array()}};
  for (const auto& [effect, error] : memory.errors) {
    Json entry = {{"effect", effect.hex()}, {"error", jsonNumber(error)}};
    if (const auto there = memory.onReference.find(effect); there != memory.onReference.end())
      entry["reference"] = jsonNumber(there->second);
    json["evaluations"].push_back(std::move(entry));
  }
  return writeFileAtomically(path, json.dump(1) + "\n");
}

}  // namespace fusescope
