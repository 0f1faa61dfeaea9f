#include "tests/conformance/known_failures.h"

#include <algorithm>
#include <set>

#include "base/files.h"
#include "base/text.h"

namespace fusescope::conformance {
namespace {

constexpr const char* kPreface =
    "# Operator cases of the ONNX package that fail, each with what it lacks. One case (or glob) a line, below the "
    "class\n"
    "# of the problem. A listed case that passes fails the suite, and so does a failing case that is not listed.\n"
    "# `conformance --write-known` refreshes the list and keeps the words of what is already in it.\n";

std::string trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return std::string(text.substr(first, text.find_last_not_of(" \t") - first + 1));
}

std::string oneLine(std::string text) {
  std::ranges::replace(text, '\n', ' ');
  constexpr std::size_t kLongest = 200;
  return text.size() <= kLongest ? text : text.substr(0, kLongest) + "…";
}

bool isGlob(const std::string& pattern) {
  return pattern.find_first_of("*?") != std::string::npos;
}

}  // namespace

Result<KnownFailures> KnownFailures::read(const std::filesystem::path& path) {
  KnownFailures known;
  if (!std::filesystem::exists(path)) return known;
  std::string heading;
  std::set<std::string> seen;
  const std::string text = TRY(readTextFile(path));
  for (const std::string& line : split(text, '\n')) {
    if (line.starts_with("## ")) heading = trimmed(line.substr(3));
    if (line.starts_with("#") || trimmed(line).empty()) continue;
    const auto end = line.find_first_of(" \t");
    KnownFailure entry{heading, line.substr(0, end), end == std::string::npos ? "" : trimmed(line.substr(end))};
    if (entry.reason.empty())
      return Diagnostic{.message = "'" + line + "' gives no reason", .where = {.file = path.string()}};
    if (!seen.insert(entry.pattern).second)
      return Diagnostic{.message = "'" + entry.pattern + "' is listed twice", .where = {.file = path.string()}};
    known.m_entries.push_back(std::move(entry));
  }
  return known;
}

const KnownFailure* KnownFailures::find(const std::string& name) const {
  for (const KnownFailure& entry : m_entries)
    if (matchesGlob(entry.pattern, name)) return &entry;
  return nullptr;
}

KnownFailures KnownFailures::updated(const std::map<std::string, Outcome>& outcomes) const {
  KnownFailures result;
  const auto fails = [&](const std::string& name) {
    const auto found = outcomes.find(name);
    return found != outcomes.end() && !found->second.passed;
  };
  for (const KnownFailure& entry : m_entries) {
    std::vector<std::string> failing;
    bool all = true;
    for (const auto& [name, outcome] : outcomes) {
      if (!matchesGlob(entry.pattern, name)) continue;
      if (outcome.passed) all = false;
      if (!outcome.passed) failing.push_back(name);
    }
    if (isGlob(entry.pattern) && all && !failing.empty()) {
      result.m_entries.push_back(entry);
    } else {
      for (const auto& name : failing) result.m_entries.push_back({entry.heading, name, entry.reason});
    }
  }
  for (const auto& [name, outcome] : outcomes)
    if (fails(name) && result.find(name) == nullptr)
      result.m_entries.push_back({outcome.problem, name, oneLine(outcome.message)});
  return result;
}

Status KnownFailures::write(const std::filesystem::path& path) const {
  std::map<std::string, std::map<std::string, std::string>> sections;
  std::size_t width = 0;
  for (const KnownFailure& entry : m_entries) {
    sections[entry.heading][entry.pattern] = entry.reason;
    width = std::max(width, entry.pattern.size());
  }
  std::string text = kPreface;
  for (const auto& [heading, lines] : sections) {
    text += "\n## " + heading + "\n";
    for (const auto& [pattern, reason] : lines)
      text += pattern + std::string(width + 2 - pattern.size(), ' ') + reason + "\n";
  }
  return writeFileAtomically(path, text);
}

}  // namespace fusescope::conformance
