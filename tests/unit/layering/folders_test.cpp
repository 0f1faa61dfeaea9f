// Each large folder says in a README.md what is in it, and the files that it names are there. The name of a source or
// header occurs once.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <map>
#include <regex>
#include <string>
#include <vector>

#include "base/files.h"

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kFilesOfSmallFolder = 12;
constexpr std::ptrdiff_t kLeastLines = 5, kMostLines = 40;

/// Folders of data, with all that is below them.
const std::vector<std::string> kDataFolders{"tests/fuzz/corpus", "tests/golden", "tests/gui/pictures",
                                            "tests/torch/recordings"};
/// Its README.md also describes the files of PyTorch. It is longer for that, and names what is in those.
constexpr const char* kFolderWithFormat = "core/frontends/torch";

bool holdsData(const std::string& folder) {
  return std::ranges::any_of(kDataFolders,
                             [&](const std::string& data) { return folder == data || folder.starts_with(data + "/"); });
}

/// Folders of sources with many files directly in them, relative to the source root.
std::vector<std::string> largeFolders() {
  const fs::path root = FUSESCOPE_SOURCE_DIR;
  std::map<std::string, std::size_t> filesIn;
  for (const char* tree : {"app", "core", "ui", "tests", "scripts", "resources/probe"})
    for (const auto& entry : fs::recursive_directory_iterator(root / tree)) {
      const fs::path folder = entry.path().parent_path();
      if (!entry.is_regular_file() || entry.path().filename() == "README.md") continue;
      if (folder.filename() == "__pycache__") continue;
      ++filesIn[fs::relative(folder, root).generic_string()];
    }
  std::vector<std::string> large;
  for (const auto& [folder, files] : filesIn)
    if (files > kFilesOfSmallFolder && !holdsData(folder)) large.push_back(folder);
  return large;
}

/// What stands in backticks and is written like a file, a folder or, with `*`, several of them.
std::vector<std::string> pathsIn(const std::string& text) {
  static const std::regex quoted("`([\\w./*+-]+)`"), file(".*\\.(h|cpp|inc|md|py|json|sh|txt|cmake|conf)");
  std::vector<std::string> paths;
  for (std::sregex_iterator at(text.begin(), text.end(), quoted), end; at != end; ++at) {
    const std::string word = (*at)[1];
    if (word.find_first_of("/*") != std::string::npos || std::regex_match(word, file)) paths.push_back(word);
  }
  return paths;
}

/// Whether `path` leads from `folder` to something. `*` in its last part stands for any characters.
bool leadsSomewhere(const fs::path& folder, const std::string& path) {
  const fs::path whole = folder / path;
  if (path.find('*') == std::string::npos) return fs::exists(whole);
  if (!fs::is_directory(whole.parent_path())) return false;
  std::string pattern;
  for (const char c : whole.filename().string()) {
    if (c == '*') {
      pattern += ".*";
    } else {
      if (c == '.' || c == '+') pattern += '\\';
      pattern += c;
    }
  }
  const std::regex names(pattern);
  for (const auto& entry : fs::directory_iterator(whole.parent_path()))
    if (std::regex_match(entry.path().filename().string(), names)) return true;
  return false;
}

TEST(Folders, EachLargeOneSaysWhatIsInIt) {
  const fs::path root = FUSESCOPE_SOURCE_DIR;
  const std::vector<std::string> folders = largeFolders();
  EXPECT_GT(folders.size(), 50U);
  std::size_t named = 0;
  for (const std::string& folder : folders) {
    const fs::path readme = root / folder / "README.md";
    if (!fs::exists(readme)) {
      ADD_FAILURE() << folder << " has many files and no README.md";
      continue;
    }
    if (folder == kFolderWithFormat) continue;
    const std::string text = fusescope::readTextFile(readme.string()).value();
    const auto lines = std::ranges::count(text, '\n');
    EXPECT_GE(lines, kLeastLines) << folder << "/README.md says too little";
    EXPECT_LE(lines, kMostLines) << folder << "/README.md says too much";
    for (const std::string& path : pathsIn(text)) {
      ++named;
      EXPECT_TRUE(leadsSomewhere(root / folder, path) || leadsSomewhere(root, path) ||
                  leadsSomewhere(root / "core", path))
          << folder << "/README.md names " << path << ", which is not there";
    }
  }
  EXPECT_GT(named, 500U);
}

// A file is found, and spoken of, by its name alone. Each program has a main.cpp of its own. A file of tests has the
// name of what it tests, which several suites may do.
TEST(Folders, HaveSourcesAndHeadersWhoseNamesOccurOnce) {
  const fs::path root = FUSESCOPE_SOURCE_DIR;
  std::map<std::string, std::string> pathOf;
  for (const char* tree : {"app", "core", "ui", "tests"})
    for (const auto& entry : fs::recursive_directory_iterator(root / tree)) {
      const fs::path& path = entry.path();
      const std::string name = path.filename().string(), shown = fs::relative(path, root).generic_string();
      if ((path.extension() != ".cpp" && path.extension() != ".h") || name == "main.cpp") continue;
      if (name.ends_with("_test.cpp")) continue;
      const auto [first, isNew] = pathOf.emplace(name, shown);
      EXPECT_TRUE(isNew) << first->second << " and " << shown << " have one name";
    }
  EXPECT_GT(pathOf.size(), 1000U);
}

}  // namespace
