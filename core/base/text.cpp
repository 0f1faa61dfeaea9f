#include "base/text.h"

#include <algorithm>
#include <cctype>
#include <numeric>
#include <optional>

namespace fusescope {
namespace {

constexpr std::size_t kMostLetters = 200;  ///< of a name that is compared: it takes time by their number
constexpr std::size_t kLeastLetters = 3;   ///< that tell something where they stand in another name
constexpr std::size_t kDiffering = 3;      ///< one letter in so many may differ

std::string lowered(std::string_view text) {
  std::string lower(text.substr(0, kMostLetters));
  std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return lower;
}

/// Returns how many letters must be inserted, removed, changed, or swapped with the next one.
std::size_t editDistance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> beforeLast, last(b.size() + 1), row(b.size() + 1);
  std::iota(last.begin(), last.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      const bool changedPlaces = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (changedPlaces) row[j] = std::min(row[j], beforeLast[j - 2] + 1);
    }
    beforeLast = last;
    last = row;
  }
  return last[b.size()];
}

bool holds(std::string_view text, std::string_view part) {
  return part.size() >= kLeastLetters && text.find(part) != std::string_view::npos;
}

/// Returns by how many letters two names differ. Returns nothing if they are not similar: at most a third of the
/// letters may differ, unless one name contains the other.
std::optional<std::size_t> lettersApart(std::string_view wanted, std::string_view name) {
  const std::size_t letters = std::max(wanted.size(), name.size());
  const bool inside = holds(name, wanted) || (holds(wanted, name) && 2 * name.size() >= wanted.size());
  const std::size_t allowed = std::max<std::size_t>(1, letters / kDiffering);
  if (!inside && letters - std::min(wanted.size(), name.size()) > allowed) return std::nullopt;
  const std::size_t distance = editDistance(wanted, name);
  return inside || (distance <= allowed && distance < letters) ? std::optional(distance) : std::nullopt;
}

/// Returns the same. If `wanted` is not a path, only the part after the last '/' of `name` may be meant.
std::optional<std::size_t> farness(std::string_view wanted, std::string_view name) {
  const std::optional<std::size_t> whole = lettersApart(wanted, name);
  const std::size_t slash = name.rfind('/');
  if (slash == std::string_view::npos || wanted.find('/') != std::string_view::npos) return whole;
  const std::optional<std::size_t> last = lettersApart(wanted, name.substr(slash + 1));
  return whole && last ? std::min(whole, last) : whole ? whole : last;
}

}  // namespace

bool matchesGlob(std::string_view pattern, std::string_view text) {
  std::size_t p = 0, t = 0, star = std::string_view::npos, resume = 0;
  while (t < text.size()) {
    if (p < pattern.size() && (pattern[p] == '?' || (pattern[p] == text[t] && pattern[p] != '*'))) {
      ++p, ++t;
    } else if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      resume = t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++resume;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

std::vector<std::string> nearestNames(std::string_view wanted, const std::vector<std::string>& names,
                                      std::size_t most) {
  const std::string text = lowered(wanted);
  std::vector<std::pair<std::size_t, const std::string*>> ranked;
  for (const std::string& name : names)
    if (const auto far = farness(text, lowered(name))) ranked.emplace_back(*far, &name);
  std::ranges::stable_sort(ranked, {}, [](const auto& entry) { return entry.first; });
  std::vector<std::string> nearest;
  for (std::size_t i = 0; i < std::min(most, ranked.size()); ++i) nearest.push_back(*ranked[i].second);
  return nearest;
}

std::string joined(const std::vector<std::string>& parts, std::string_view separator) {
  std::string text;
  for (const std::string& part : parts) {
    if (&part != &parts.front()) text += separator;
    text += part;
  }
  return text;
}

std::string counted(std::int64_t count, std::string_view one) {
  return std::to_string(count).append(" ").append(one).append(count == 1 ? "" : "s");
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (std::size_t start = 0; start <= text.size();) {
    const std::size_t end = std::min(text.find(separator, start), text.size());
    parts.emplace_back(text.substr(start, end - start));
    start = end + 1;
  }
  return parts;
}

}  // namespace fusescope
