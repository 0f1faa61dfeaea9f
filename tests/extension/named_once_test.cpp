// What the lists hold is named nowhere else: each is a line of its list and a definition in its own file.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <regex>
#include <set>

#include "base/files.h"

namespace {

namespace fs = std::filesystem;

const fs::path kRoot = FUSESCOPE_SOURCE_DIR;

/// The sources of the program, each with its text without comments.
const std::map<std::string, std::string>& sources() {
  static const std::map<std::string, std::string> kSources = [] {
    const std::regex comment("//[^\n]*");
    std::map<std::string, std::string> texts;
    for (const char* folder : {"core", "app", "ui"})
      for (const auto& entry : fs::recursive_directory_iterator(kRoot / folder))
        if (const auto extension = entry.path().extension(); extension == ".cpp" || extension == ".h")
          texts[fs::relative(entry.path(), kRoot).string()] =
              std::regex_replace(fusescope::readTextFile(entry.path().string()).value(), comment, "");
    return texts;
  }();
  return kSources;
}

/// The files that name `word`.
std::set<std::string> filesNaming(const std::string& word) {
  const auto partOfAWord = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
  std::set<std::string> files;
  for (const auto& [file, text] : sources())
    for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) {
      const std::size_t end = at + word.size();
      if ((at == 0 || !partOfAWord(text[at - 1])) && (end == text.size() || !partOfAWord(text[end])))
        files.insert(file);
    }
  return files;
}

struct List {
  const char* file;
  const char* macro;
  const char* before;  ///< of the symbol that a name of the list stands for
  const char* after;
  std::size_t least;  ///< so many it has at least
};

std::vector<std::string> namesOf(const List& list) {
  const std::string text = fusescope::readTextFile((kRoot / list.file).string()).value();
  const std::regex line("(^|\n)" + std::string(list.macro) + "\\((\\w+)\\)");
  std::vector<std::string> names;
  for (std::sregex_iterator at(text.begin(), text.end(), line), end; at != end; ++at) names.push_back((*at)[2]);
  return names;
}

TEST(Lists, WhatTheyHoldIsNamedInItsOwnFileAlone) {
  for (const List& list : {List{"core/planning/fusion/rules.inc", "FUSION_RULE", "k", "Rule", 17},
                           List{"core/planning/directives/kinds.inc", "DIRECTIVE_KIND", "k", "Form", 8},
                           List{"core/target/restrictions.inc", "RESTRICTION", "k", "", 10},
                           List{"core/ops/families.inc", "FAMILY", "register", "", 47},
                           List{"core/backends/native/lowering/kernels.inc", "KERNEL", "k", "Emitter", 24},
                           List{"ui/docks/docks.inc", "DOCK", "k", "Dock", 7},
                           List{"ui/canvas/color_modes.inc", "COLOR_MODE", "k", "Colors", 4},
                           List{"ui/canvas/container_kinds.inc", "CONTAINER_KIND", "k", "Containers", 3}}) {
    const std::vector<std::string> names = namesOf(list);
    EXPECT_GE(names.size(), list.least) << list.file;
    EXPECT_EQ(std::set(names.begin(), names.end()).size(), names.size()) << list.file << " names something twice";
    for (const std::string& name : names) {
      const std::string symbol = list.before + name + list.after;
      EXPECT_EQ(filesNaming(symbol).size(), 1U) << symbol << ": " << ::testing::PrintToString(filesNaming(symbol));
    }
  }
}

TEST(Lists, NothingChoosesByTheKindOfADirective) {
  for (const auto& [file, text] : sources())
    EXPECT_EQ(text.find("case DirectiveKind::"), std::string::npos)
        << file << " tells kinds apart; what differs between them belongs into their forms";
}

TEST(Lists, ATargetIsNamedByItsTableAndTheListOfTables) {
  const std::string listed = fusescope::readTextFile((kRoot / "core/CMakeLists.txt").string()).value();
  std::size_t targets = 0;
  for (const auto& entry : fs::directory_iterator(kRoot / "resources/targets")) {
    if (entry.path().extension() != ".json") continue;
    ++targets;
    const std::string file = entry.path().filename().string(), name = entry.path().stem().string();
    const std::size_t first = listed.find(" " + file);
    EXPECT_NE(first, std::string::npos) << file;
    EXPECT_EQ(listed.find(" " + file, first + 1), std::string::npos) << file;
    if (name == "cpu") continue;  // what is planned for where nothing else is said
    // A compiler with a target of its own has the same name, which stands in its own folder alone; a format of export
    // for it has that name, too, and the reader of its files may name its packages. Torch-TensorRT makes engines for
    // two of them.
    std::string folder = name + "/";
    std::ranges::replace(folder, '-', '_');
    for (const auto& [source, text] : sources()) {
      const bool isOfEnginesForIt =
          name.starts_with("tensorrt-") && source.starts_with("core/compilers/torch_tensorrt/");
      if (!isOfEnginesForIt && !source.starts_with("core/compilers/" + folder) &&
          !source.starts_with("core/frontends/" + folder) && !source.starts_with("core/interchange/export")) {
        EXPECT_EQ(text.find("\"" + name + "\""), std::string::npos) << source << " names " << name;
      }
    }
  }
  EXPECT_GE(targets, 4U);
}

}  // namespace
