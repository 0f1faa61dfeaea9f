// Comments of headers, the READMEs of folders, the help of operations and the catalogue of decisions use no phrase that
// a stranger has to read twice.
#include <gtest/gtest.h>

#include <cstddef>
#include <filesystem>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.h"

namespace {

namespace fs = std::filesystem;

struct HardPhrase {
  std::string_view phrase;
  std::string_view instead;
};

constexpr HardPhrase kHardPhrases[] = {{"untold", "not disclosed"},
                                       {"is told", "is reported, is decided"},
                                       {"are told", "learn"},
                                       {"may stand", "may be given"},
                                       {"stands in ", "is described in, is stored in"},
                                       {"stand in its place", "be given instead"},
                                       {"stands for", "means, represents"},
                                       {"come apart", "differ"},
                                       {"comes apart", "differs"},
                                       {"speak with", "exchange messages with"},
                                       {"speaks with", "exchanges messages with"},
                                       {"tell them apart", "distinguish"},
                                       {"it is not said", "it is unknown"},
                                       {"goes wrong by", "becomes wrong because of"},
                                       {"is asked of", "is a request to"}};

/// Returns the words of `text` with one space between two of them, and without the marks of comments.
std::string wordsOf(const std::string& text) {
  std::istringstream words(text);
  std::string all;
  for (std::string word; words >> word;)
    if (word != "//" && word != "///" && word != "///<") all += word + " ";
  return all;
}

/// Returns the comments of a header, one after another.
std::string commentsOf(const std::string& header) {
  std::istringstream lines(header);
  std::string all;
  for (std::string line; std::getline(lines, line);)
    if (const std::size_t at = line.find("//"); at != std::string::npos) all += line.substr(at) + "\n";
  return all;
}

std::vector<std::string> hardPhrasesIn(const std::string& text) {
  const std::string words = wordsOf(text);
  std::vector<std::string> found;
  for (const HardPhrase& hard : kHardPhrases)
    if (const std::size_t at = words.find(hard.phrase); at != std::string::npos) {
      const std::size_t from = at < 40 ? 0 : at - 40;
      found.push_back("\"" + words.substr(from, 120) + "\"; plainer: " + std::string(hard.instead));
    }
  return found;
}

/// Returns the part of a file that people read; empty if the file is not checked.
std::string readablePart(const fs::path& path) {
  const std::string name = path.generic_string();
  const auto text = [&] { return fusescope::readTextFile(name).value(); };
  if (path.extension() == ".h") return commentsOf(text());
  const bool isOfUsers = name.find("/session/operations/") != std::string::npos ||
                         path.filename().string().starts_with("decision_catalogue");
  if (path.filename() == "README.md" || (path.extension() == ".cpp" && isOfUsers)) return text();
  return {};
}

TEST(PlainWords, PhrasesAreFoundAcrossLinesOfComments) {
  EXPECT_EQ(hardPhrasesIn(commentsOf("int a;  ///< what it is\n/// told; it\nbool isTold;\n")).size(), 1U);
  EXPECT_TRUE(hardPhrasesIn(commentsOf("bool isUntold();  ///< whether it is disclosed\n")).empty());
}

TEST(PlainWords, TextsUseNoPhraseThatMustBeReadTwice) {
  std::size_t read = 0;
  for (const char* tree : {"app", "core", "ui"})
    for (const auto& entry : fs::recursive_directory_iterator(fs::path(FUSESCOPE_SOURCE_DIR) / tree)) {
      const std::string part = entry.is_regular_file() ? readablePart(entry.path()) : std::string();
      if (part.empty()) continue;
      ++read;
      for (const std::string& hard : hardPhrasesIn(part)) ADD_FAILURE() << entry.path() << ": " << hard;
    }
  EXPECT_GT(read, 1000U);
}

}  // namespace
