#include "frontends/tensorrt/engine_profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "base/json.h"
#include "base/medians.h"
#include "base/text.h"
#include "base/trimmed.h"
#include "base/utf8.h"
#include "frontends/tensorrt/lenient_json.h"

namespace fusescope {
namespace {

Diagnostic noProfile(std::string message) {
  return {.message = std::move(message),
          .help = "Times by layer are written by: trtexec --loadEngine=… --exportProfile=profile.json."};
}

std::optional<double> timeFrom(const Json& json) {
  if (!json.is_number()) return std::nullopt;
  const double ms = json.get<double>();
  return std::isfinite(ms) && ms >= 0 ? std::optional(ms) : std::nullopt;
}

std::optional<double> timeAt(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found == object.end() ? std::nullopt : timeFrom(*found);
}

std::optional<double> medianOf(std::vector<double> all) {
  return all.empty() ? std::nullopt : std::optional(upperMedian(std::move(all)));
}

/// [{"count": N}, {"name", "timeMs", "averageMs", "medianMs", "percentage"}, …]
Result<EngineProfile> profileFromList(const Json& list) {
  EngineProfile profile;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const Json& entry = list[i];
    if (!entry.is_object()) return noProfile(fmt::format("entry {} of the profile is not an object", i));
    if (const auto count = entry.find("count"); count != entry.end() && count->is_number_integer())
      profile.runs = count->get<std::int64_t>();
    const auto name = entry.find("name");
    if (name == entry.end()) continue;
    if (!name->is_string()) return noProfile(fmt::format("entry {} of the profile has a name that is not a string", i));
    profile.layers.push_back({.name = name->get<std::string>(),
                              .medianMs = timeAt(entry, "medianMs"),
                              .averageMs = timeAt(entry, "averageMs")});
  }
  if (profile.layers.empty()) return noProfile("this is JSON, but not a profile of an engine: no entry has a name");
  return profile;
}

/// {"LAYER": [ms, ms, …], …}
Result<EngineProfile> profileFromTimes(const Json& times) {
  EngineProfile profile;
  for (const auto& [name, list] : times.items()) {
    if (!list.is_array()) return noProfile(fmt::format("this is not a profile of an engine: '{}' is not a list", name));
    std::vector<double> all;
    for (const Json& each : list) {
      if (!each.is_number())
        return noProfile(fmt::format("this is not a profile of an engine: '{}' is not a list of times", name));
      if (const auto ms = timeFrom(each)) all.push_back(*ms);
    }
    profile.runs = std::max(profile.runs.value_or(0), static_cast<std::int64_t>(all.size()));
    profile.layers.push_back({.name = name, .medianMs = medianOf(std::move(all))});
  }
  if (profile.layers.empty()) return noProfile("the profile is empty");
  return profile;
}

std::optional<double> numberIn(std::string_view word) {
  double number = 0;
  const auto read = std::from_chars(word.data(), word.data() + word.size(), number);
  if (read.ec != std::errc() || read.ptr != word.data() + word.size()) return std::nullopt;
  return std::isfinite(number) ? std::optional(number) : std::nullopt;
}

/// The table of --dumpProfile: since 8.5, numbers are first and the name is last; before, the name is first.
class ProfileTable {
 public:
  explicit ProfileTable(std::string_view text) {
    for (const std::string& line : split(text, '\n')) take(line);
  }
  EngineProfile profile() && { return std::move(m_profile); }

 private:
  /// Returns the text after "[date] [I] ".
  static std::string_view withoutPrefix(std::string_view line) {
    const std::size_t level = line.find("] [");
    const bool isLog = line.starts_with('[') && level != std::string_view::npos && line.size() > level + 4;
    return trimmed(isLog ? line.substr(level + 5) : line);
  }

  void take(std::string_view line) {
    const std::string_view words = withoutPrefix(line);
    constexpr std::string_view kTitle = "=== Profile (";
    if (words.starts_with(kTitle)) {
      m_profile = {};
      std::int64_t runs = 0;
      const std::string_view count = words.substr(kTitle.size());
      if (std::from_chars(count.data(), count.data() + count.size(), runs).ec == std::errc()) m_profile.runs = runs;
      m_isInside = true;
    } else if (m_isInside && words.starts_with("Time")) {
      m_nameIsLast = true;
      m_hasMedian = words.find("Median") != std::string_view::npos;
    } else if (m_isInside && words.starts_with("Layer ")) {
      m_nameIsLast = false;
      m_hasMedian = words.find("Median") != std::string_view::npos;
    } else if (m_isInside && (words.empty() || !takeRow(words))) {
      m_isInside = false;
    }
  }

  /// Returns false if the line is not a row, or is that of the total, which is the last.
  bool takeRow(std::string_view words) {
    const std::size_t columns = m_hasMedian ? 4 : 3;  // time, average, median, percentage
    std::array<std::optional<double>, 4> numbers;
    std::string_view rest = words;
    for (std::size_t i = 0; i < columns; ++i) {
      const std::size_t column = m_nameIsLast ? i : columns - 1 - i;
      const std::size_t space = m_nameIsLast ? rest.find_first_of(" \t") : rest.find_last_of(" \t");
      if (space == std::string_view::npos) return false;
      std::string_view word = m_nameIsLast ? rest.substr(0, space) : rest.substr(space + 1);
      rest = trimmed(m_nameIsLast ? rest.substr(space) : rest.substr(0, space));
      if (word.ends_with('%')) word.remove_suffix(1);
      numbers[column] = numberIn(word);
      if (!numbers[column] && !word.ends_with("nan")) return false;
    }
    if (rest.empty() || rest == "Total") return false;
    m_profile.layers.push_back(
        {.name = std::string(rest), .medianMs = m_hasMedian ? numbers[2] : std::nullopt, .averageMs = numbers[1]});
    return true;
  }

  EngineProfile m_profile;
  bool m_isInside = false, m_nameIsLast = true, m_hasMedian = true;
};

/// '[' begins a list of JSON, and also a log line.
bool isJsonList(std::string_view text) {
  if (!text.starts_with('[')) return false;
  const std::string_view inside = trimmed(text.substr(1));
  return inside.empty() || std::string_view("\n{]\"").find(inside.front()) != std::string_view::npos;
}

}  // namespace

std::string EngineProfile::counts() const {
  const bool isMedian =
      std::ranges::all_of(layers, [](const ProfiledLayer& layer) { return layer.medianMs.has_value(); });
  return (isMedian ? "medians" : "means") + (runs ? fmt::format(" of {}", counted(*runs, "run")) : std::string());
}

Result<EngineProfile> parseEngineProfile(std::string_view text) {
  const std::string valid = validUtf8(text);
  const std::string_view words =
      std::string_view(valid).substr(std::min(valid.find_first_not_of(" \t\r\n"), valid.size()));
  if (words.empty()) return noProfile("the file is empty");
  if (words.starts_with('{')) return profileFromTimes(TRY(parseLenientJson(words)));
  if (isJsonList(words)) return profileFromList(TRY(parseLenientJson(words)));
  EngineProfile profile = ProfileTable(words).profile();
  if (profile.layers.empty())
    return noProfile("this is not a profile of an engine: it is neither JSON nor a table below \"=== Profile\"");
  return profile;
}

Result<EngineTimes> parseEngineTimes(std::string_view text) {
  const Json list = TRY(parseLenientJson(text));
  std::vector<double> latency, compute;
  if (list.is_array())
    for (const Json& run : list) {
      if (!run.is_object()) continue;
      if (const auto ms = timeAt(run, "latencyMs")) latency.push_back(*ms);
      if (const auto ms = timeAt(run, "computeMs")) compute.push_back(*ms);
    }
  if (latency.empty() && compute.empty())
    return Diagnostic{.message = "this is not a list of times of runs: no entry has \"latencyMs\" or \"computeMs\"",
                      .help = "It is written by: trtexec --loadEngine=… --exportTimes=times.json."};
  EngineTimes times{.runs = static_cast<std::int64_t>(std::max(latency.size(), compute.size()))};
  times.latencyMs = medianOf(std::move(latency));
  times.computeMs = medianOf(std::move(compute));
  return times;
}

}  // namespace fusescope
