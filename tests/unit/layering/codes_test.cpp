// Every reason code is given by the code and named by a test: both are looked for in the sources.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>
#include <string>

namespace {

namespace fs = std::filesystem;

std::string contentOf(const fs::path& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

bool isCatalogue(const fs::path& path) {
  return path.extension() == ".cpp" && path.filename().string().starts_with("decision_catalogue");
}

/// Everything that looks like a reason code in the sources below `folder`, but for the catalogue.
std::set<std::string> codesBelow(const std::string& folder, const std::set<std::string>& known) {
  static const std::regex code("[a-z]+\\.[a-z_0-9]+");
  std::set<std::string> found;
  for (const auto& entry : fs::recursive_directory_iterator(fs::path(FUSESCOPE_SOURCE_DIR) / folder)) {
    const auto extension = entry.path().extension();
    if (extension != ".cpp" && extension != ".h" && extension != ".txt") continue;
    if (isCatalogue(entry.path())) continue;
    const std::string text = contentOf(entry.path());
    for (std::sregex_iterator at(text.begin(), text.end(), code), end; at != end; ++at)
      if (known.contains(at->str())) found.insert(at->str());
  }
  return found;
}

std::set<std::string> catalogue() {
  std::string text;
  for (const auto& entry : fs::directory_iterator(fs::path(FUSESCOPE_SOURCE_DIR) / "core/ir"))
    if (isCatalogue(entry.path())) text += contentOf(entry.path());
  static const std::regex row("\\{\"([a-z]+\\.[a-z_0-9]+)\"");
  std::set<std::string> codes;
  for (std::sregex_iterator at(text.begin(), text.end(), row), end; at != end; ++at) codes.insert((*at)[1]);
  return codes;
}

TEST(ReasonCodes, EachIsGivenAndTested) {
  const std::set<std::string> codes = catalogue();
  ASSERT_GT(codes.size(), 60U);
  const std::set<std::string> given = codesBelow("core", codes), tested = codesBelow("tests", codes);
  for (const std::string& code : codes) {
    EXPECT_TRUE(given.contains(code)) << code << " is in the catalogue and nothing gives it";
    EXPECT_TRUE(tested.contains(code)) << code << " is in no test";
  }
}

}  // namespace
