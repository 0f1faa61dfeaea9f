// Files that include each other in a circle can only be read together. A file is here a header with its source.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/unit/layering/source_includes.h"

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostFiles = 3;
constexpr std::size_t kMostCircles = 5;

struct Circle {
  std::set<std::string> files;  ///< "core/ir/graph" for the header and the source
  std::string why;              ///< why they stay together
};

/// The circles that there are.
const std::vector<Circle> kKnownCircles{
    {{"core/engine/carried_examples", "core/engine/engine_file"},
     "an engine file contains the examples of its network, and is one of the files that examples are read from"},
};

using Uses = std::map<std::string, std::set<std::string>>;

/// Returns the path without the extension of a header or a source.
std::string fileOf(const fs::path& path) {
  const auto extension = path.extension();
  return extension == ".h" || extension == ".cpp" ? (path.parent_path() / path.stem()).generic_string()
                                                  : path.generic_string();
}

/// Returns for each file below core, ui and app the other files that it includes.
Uses usesOfFiles() {
  const fs::path root = FUSESCOPE_SOURCE_DIR;
  Uses uses;
  for (const char* tree : {"core", "ui", "app"}) {
    for (const fusescope::test::SourceInclude& include : fusescope::test::includesBelow(tree)) {
      const std::string own = fileOf(include.file);
      for (const fs::path& used :
           {fs::path("core") / include.header, fs::path(include.header), include.file.parent_path() / include.header}) {
        if (!fs::is_regular_file(root / used)) continue;
        if (fileOf(used) != own) uses[own].insert(fileOf(used));
        break;
      }
    }
  }
  return uses;
}

/// Finds the largest sets of files each of which uses all others, directly or through others (Tarjan).
class CircleFinder {
 public:
  explicit CircleFinder(const Uses& uses) : m_uses(uses) {}

  std::vector<std::set<std::string>> run() {
    for (const auto& [file, used] : m_uses)
      if (!m_visits.contains(file)) visit(file);
    return m_circles;
  }

 private:
  struct Visit {
    std::size_t number = 0;  ///< in the order of visits
    bool isOnStack = true;
  };

  /// Visits a file and what it uses. Returns the lowest number that can be reached of those on the stack.
  std::size_t visit(const std::string& file) {
    const std::size_t number = m_visits.size();
    m_visits[file] = {.number = number};
    m_stack.push_back(file);
    std::size_t lowest = number;
    if (const auto used = m_uses.find(file); used != m_uses.end()) {
      for (const std::string& next : used->second) {
        const auto known = m_visits.find(next);
        if (known == m_visits.end())
          lowest = std::min(lowest, visit(next));
        else if (known->second.isOnStack)
          lowest = std::min(lowest, known->second.number);
      }
    }
    if (lowest == number) takeFromStack(file);
    return lowest;
  }

  void takeFromStack(const std::string& last) {
    std::set<std::string> circle;
    do {
      circle.insert(m_stack.back());
      m_visits[m_stack.back()].isOnStack = false;
      m_stack.pop_back();
    } while (!circle.contains(last));
    if (circle.size() > 1) m_circles.push_back(std::move(circle));
  }

  const Uses& m_uses;
  std::map<std::string, Visit> m_visits;
  std::vector<std::string> m_stack;
  std::vector<std::set<std::string>> m_circles;
};

std::string asText(const std::set<std::string>& files) {
  std::string text;
  for (const std::string& file : files) text += (text.empty() ? "" : ", ") + file;
  return text;
}

TEST(Layering, CirclesAreFound) {
  const Uses uses{{"a", {"b"}}, {"b", {"c", "d"}}, {"c", {"a"}}, {"d", {"e"}}, {"e", {"d"}}, {"f", {"a", "e"}}};
  const auto circles = CircleFinder(uses).run();
  const std::set<std::set<std::string>> expected{{"a", "b", "c"}, {"d", "e"}};
  EXPECT_EQ(std::set<std::set<std::string>>(circles.begin(), circles.end()), expected);
}

TEST(Layering, FilesHaveFewCircles) {
  EXPECT_LE(kKnownCircles.size(), kMostCircles);
  const Uses uses = usesOfFiles();
  EXPECT_GT(uses.size(), 500U);
  const auto circles = CircleFinder(uses).run();
  for (const std::set<std::string>& circle : circles) {
    EXPECT_LE(circle.size(), kMostFiles) << asText(circle);
    EXPECT_EQ(std::ranges::count(kKnownCircles, circle, &Circle::files), 1)
        << "these files include each other in a circle: " << asText(circle);
  }
  for (const Circle& known : kKnownCircles) {
    EXPECT_EQ(std::ranges::count(circles, known.files), 1) << "no circle any more: " << asText(known.files);
    EXPECT_FALSE(known.why.empty()) << asText(known.files);
  }
}

}  // namespace
