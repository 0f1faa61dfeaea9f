#include "base/json_splice.h"

#include <optional>

#include "base/json.h"

namespace fusescope {
namespace {

/// The place of a value in a text.
struct TextPlace {
  std::size_t begin = 0, end = 0;
};

Diagnostic cannotSplice(std::string message, const std::string& key) {
  return {.message = std::move(message), .where = {.attribute = key}};
}

/// Walks over a text that is known to be valid JSON.
class JsonWalk {
 public:
  explicit JsonWalk(std::string_view text) : m_text(text) {}

  std::size_t skipSpace(std::size_t at) const {
    while (at < m_text.size() && std::string_view(" \t\r\n").find(m_text[at]) != std::string_view::npos) ++at;
    return at;
  }

  /// Returns the position after the value that begins at `at`. Nesting does not use the stack.
  std::size_t behind(std::size_t at) const {
    int depth = 0;
    do {
      at = skipSpace(at);
      const char first = m_text[at];
      if (first == '"') {
        at = behindText(at);
      } else if (first == '{' || first == '[') {
        ++depth;
        ++at;
      } else if (first == '}' || first == ']') {
        --depth;
        ++at;
      } else if (first == ',' || first == ':') {
        ++at;
      } else {
        while (at < m_text.size() && std::string_view(",:]}\" \t\r\n").find(m_text[at]) == std::string_view::npos) ++at;
      }
    } while (depth > 0 && at < m_text.size());
    return at;
  }

  /// Returns the place of the value of `key` in the object that begins at `at`, or nothing if there is none.
  Result<std::optional<TextPlace>> member(std::size_t at, const std::string& key) const {
    std::optional<TextPlace> found;
    at = skipSpace(at + 1);
    while (m_text[at] != '}') {
      const std::size_t endOfKey = behindText(at);
      const bool isKey = Json::parse(m_text.substr(at, endOfKey - at)).get<std::string>() == key;
      const std::size_t value = skipSpace(skipSpace(endOfKey) + 1);
      const std::size_t end = behind(value);
      if (isKey && found) return cannotSplice("occurs twice in one object", key);
      if (isKey) found = TextPlace{value, end};
      at = skipSpace(end);
      if (m_text[at] == ',') at = skipSpace(at + 1);
    }
    return found;
  }

 private:
  std::size_t behindText(std::size_t at) const {
    for (++at; m_text[at] != '"'; ++at)
      if (m_text[at] == '\\') ++at;
    return at + 1;
  }

  std::string_view m_text;
};

}  // namespace

Result<std::string> withJsonMember(std::string_view text, const std::vector<std::string>& path, const std::string& key,
                                   std::string_view value) {
  if (!Json::accept(text)) return cannotSplice("is not JSON", key);
  const JsonWalk walk(text);
  std::size_t object = walk.skipSpace(0);
  for (const std::string& step : path) {
    if (text[object] != '{') return cannotSplice("is not an object", step);
    const auto place = TRY(walk.member(object, step));
    if (!place) return cannotSplice("does not exist", step);
    object = place->begin;
  }
  if (text[object] != '{') return cannotSplice("is not an object", path.empty() ? key : path.back());
  std::string spliced(text);
  if (const auto known = TRY(walk.member(object, key))) {
    spliced.replace(known->begin, known->end - known->begin, value);
  } else {
    const bool isEmpty = text[walk.skipSpace(object + 1)] == '}';
    spliced.insert(object + 1, Json(key).dump() + ": " + std::string(value) + (isEmpty ? "" : ", "));
  }
  return spliced;
}

}  // namespace fusescope
