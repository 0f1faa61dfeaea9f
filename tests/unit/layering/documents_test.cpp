// What ARCHITECTURE.md and the tables of targets say of the sources: the files and functions that they name exist.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <iterator>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "base/files.h"

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kColumns = 120;

std::string textOf(const fs::path& path) {
  return fusescope::readTextFile(path.string()).value();
}

/// Returns what the first group of `pattern` matches in `text`.
std::set<std::string> allMatches(const std::string& text, const std::regex& pattern) {
  std::set<std::string> found;
  for (std::sregex_iterator at(text.begin(), text.end(), pattern), end; at != end; ++at) found.insert((*at)[1]);
  return found;
}

/// Returns the files of the project, relative to its root, each after a slash.
std::vector<std::string> projectFiles() {
  const fs::path root = FUSESCOPE_SOURCE_DIR;
  std::vector<std::string> files;
  for (const char* tree : {"app", "core", "ui", "tests", "scripts", "resources", "docs"})
    for (const auto& entry : fs::recursive_directory_iterator(root / tree))
      if (entry.is_regular_file()) files.push_back("/" + fs::relative(entry.path(), root).generic_string());
  return files;
}

TEST(Documents, ArchitectureNamesFilesThatExist) {
  const std::string text = textOf(fs::path(FUSESCOPE_SOURCE_DIR) / "ARCHITECTURE.md");
  static const std::regex file("`([\\w./+-]+\\.(?:h|cpp|inc|md|py))`");
  const std::vector<std::string> files = projectFiles();
  const std::set<std::string> named = allMatches(text, file);
  EXPECT_GT(named.size(), 100U);
  for (const std::string& name : named)
    EXPECT_TRUE(std::ranges::any_of(files, [&](const std::string& path) { return path.ends_with("/" + name); }))
        << "ARCHITECTURE.md names " << name << ", which is not there";
}

TEST(Documents, ArchitectureNamesFunctionsThatExist) {
  const fs::path root = FUSESCOPE_SOURCE_DIR;
  std::string sources;
  for (const char* tree : {"app", "core", "ui"})
    for (const auto& entry : fs::recursive_directory_iterator(root / tree))
      if (entry.path().extension() == ".h" || entry.path().extension() == ".cpp") sources += textOf(entry.path());
  static const std::regex function("`(?:\\w+(?:::|\\.))*(\\w+)\\(\\)`");
  const std::set<std::string> named = allMatches(textOf(root / "ARCHITECTURE.md"), function);
  EXPECT_GT(named.size(), 20U);
  for (const std::string& name : named)
    EXPECT_NE(sources.find(name + "("), std::string::npos)
        << "ARCHITECTURE.md names " << name << "(), which no source has";
}

// A line of a table is as long as its longest cell.
TEST(Documents, ArchitectureHasShortLines) {
  std::istringstream lines(textOf(fs::path(FUSESCOPE_SOURCE_DIR) / "ARCHITECTURE.md"));
  for (std::string line; std::getline(lines, line);) {
    const auto columns =
        std::ranges::count_if(line, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; });
    EXPECT_TRUE(line.starts_with("|") || columns <= static_cast<std::ptrdiff_t>(kColumns)) << line;
  }
}

TEST(Documents, TablesOfTargetsCiteFilesThatExist) {
  const fs::path root = FUSESCOPE_SOURCE_DIR;
  static const std::regex path("\"((?:core|ui|app|tests|resources)/[\\w./-]+)");
  std::size_t cited = 0;
  for (const auto& entry : fs::directory_iterator(root / "resources/targets")) {
    if (entry.path().extension() != ".json") continue;
    for (const std::string& file : allMatches(textOf(entry.path()), path)) {
      ++cited;
      EXPECT_TRUE(fs::exists(root / file)) << entry.path().filename() << " cites " << file << ", which is not there";
    }
  }
  EXPECT_GT(cited, 10U);
}

}  // namespace
