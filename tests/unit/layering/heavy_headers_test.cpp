// The definition of JSON takes longer to compile than everything else that a usual source reads. Headers that only name
// the type include base/json_fwd.h.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "tests/unit/layering/source_includes.h"

namespace {

namespace fs = std::filesystem;

using Readers = std::map<std::string, std::set<std::string>>;

/// Returns, for each file below core, ui and app that another one includes, the files that include it.
Readers readersOfFiles() {
  const fs::path root = FUSESCOPE_SOURCE_DIR;
  Readers readers;
  for (const char* tree : {"core", "ui", "app"}) {
    for (const fusescope::test::SourceInclude& include : fusescope::test::includesBelow(tree)) {
      for (const fs::path& used :
           {fs::path("core") / include.header, fs::path(include.header), include.file.parent_path() / include.header}) {
        if (!fs::is_regular_file(root / used)) continue;
        readers[used.generic_string()].insert(include.file.generic_string());
        break;
      }
    }
  }
  return readers;
}

/// Returns the files that include `header`, directly or through others.
std::set<std::string> allReaders(const Readers& readers, const std::string& header) {
  std::set<std::string> all;
  std::vector<std::string> open{header};
  while (!open.empty()) {
    const auto found = readers.find(open.back());
    open.pop_back();
    if (found == readers.end()) continue;
    for (const std::string& reader : found->second)
      if (all.insert(reader).second) open.push_back(reader);
  }
  return all;
}

std::size_t countSources(const auto& files) {
  return static_cast<std::size_t>(
      std::ranges::count_if(files, [](const std::string& file) { return fs::path(file).extension() == ".cpp"; }));
}

TEST(HeavyHeaders, JsonIsReadByFewSources) {
  std::set<std::string> all;
  for (const char* tree : {"core", "ui", "app"})
    for (const auto& include : fusescope::test::includesBelow(tree)) all.insert(include.file.generic_string());
  const std::size_t sources = countSources(all);
  const std::size_t read = countSources(allReaders(readersOfFiles(), "core/base/json.h"));
  ASSERT_GT(read, 0U) << "core/base/json.h is not where this test looks for it";
  EXPECT_LE(read * 5, sources * 2) << read << " of " << sources << " sources read base/json.h: headers that only name "
                                   << "Json include base/json_fwd.h, and what a decision says is a DecisionArgument";
}

}  // namespace
