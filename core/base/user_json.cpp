#include "base/user_json.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <set>

#include "base/json.h"
#include "base/text.h"

namespace fusescope {
namespace {

std::string below(const std::string& place, const std::string& key) {
  return place.empty() ? key : place + "." + key;
}

/// Follows a parser, and finds the first key that occurs twice in an object.
class KeyWatch {
 public:
  bool operator()(int, Json::parse_event_t event, Json& parsed) {
    using Event = Json::parse_event_t;
    if (event == Event::key) {
      see(parsed.get<std::string>());
    } else if (event == Event::object_end || event == Event::array_end) {
      m_open.pop_back();
    } else {
      if (!m_open.empty() && m_open.back().isList) ++m_open.back().index;
      if (event != Event::value) m_open.push_back({.isList = event == Event::array_start});
    }
    return true;
  }

  const std::optional<std::string>& doubled() const { return m_doubled; }

 private:
  struct Open {
    bool isList = false;
    std::int64_t index = -1;
    std::string key{};
    std::set<std::string> keys{};
  };

  void see(const std::string& key) {
    Open& object = m_open.back();
    object.key = key;
    if (!object.keys.insert(key).second && !m_doubled) m_doubled = place();
  }

  std::string place() const {
    std::string text;
    for (const Open& open : m_open)
      text = open.isList ? text + "[" + std::to_string(open.index) + "]" : below(text, open.key);
    return text;
  }

  std::vector<Open> m_open;
  std::optional<std::string> m_doubled;
};

}  // namespace

Result<Json> parseUserJson(std::string_view text) try {
  KeyWatch watch;
  Json json = Json::parse(text, std::ref(watch));
  if (watch.doubled()) return Diagnostic{.message = "this key occurs twice", .where = {.attribute = *watch.doubled()}};
  return json;
} catch (const Json::parse_error& error) {
  const std::size_t read = std::min(text.size(), static_cast<std::size_t>(error.byte));
  const auto line = 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(read), '\n');
  return Diagnostic{.message = "this is not complete JSON: line " + std::to_string(line) + " cannot be read"};
}

std::vector<std::string> keysOf(const Json& object) {
  std::vector<std::string> keys;
  for (const auto& entry : object.items()) keys.push_back(entry.key());
  return keys;
}

Status checkKeys(const Json& json, const std::vector<std::string>& known, const std::string& place,
                 std::string_view owner) {
  for (const auto& entry : json.items()) {
    if (std::ranges::find(known, entry.key()) != known.end()) continue;
    const std::vector<std::string> near = nearestNames(entry.key(), known, 1);
    return Diagnostic{.message = "is not a key of " + std::string(owner) +
                                 (near.empty() ? "" : "; the nearest is '" + near.front() + "'"),
                      .where = {.attribute = below(place, entry.key())},
                      .help = "Keys: " + joined(known) + "."};
  }
  return Done{};
}

std::string missingInWords(const Json& object, std::string_view key) {
  const std::vector<std::string> near =
      object.is_object() ? nearestNames(key, keysOf(object), 1) : std::vector<std::string>();
  return "is missing" + (near.empty() ? "" : "; the nearest key that is there is '" + near.front() + "'");
}

Status checkFormat(const Json& json, std::string_view what, std::string_view format, int version) {
  const std::string mustSay =
      "It must say \"format\": \"" + std::string(format) + "\", \"version\": " + std::to_string(version) + ".";
  if (!json.is_object())
    return Diagnostic{.message = "this is not " + std::string(what) + ": it contains no JSON object", .help = mustSay};
  const bool isOther = json.contains("format") && json["format"] != format;
  if (isOther)
    return Diagnostic{.message = "this is not " + std::string(what) + ": its format is " + json["format"].dump() +
                                 ", not \"" + std::string(format) + "\"",
                      .where = {.attribute = "format"}};
  for (const char* key : {"format", "version"})
    if (!json.contains(key))
      return Diagnostic{.message = missingInWords(json, key), .where = {.attribute = key}, .help = mustSay};
  return Done{};
}

}  // namespace fusescope
