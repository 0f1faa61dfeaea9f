// A type is defined in one header: two of one name in one namespace are one to the linker, which takes either's code.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;

/// The types that a header defines at the outermost level of its namespace, which comes first in their names.
std::vector<std::string> typesOf(const fs::path& header) {
  static const std::regex opens("^namespace ([\\w:]+) \\{"),
      defines("^(?:struct|class|enum class) ((?:\\w+::)*\\w+)[^;]*\\{.*$");
  std::vector<std::string> types;
  std::string space, line;
  std::smatch found;
  for (std::ifstream file(header); std::getline(file, line);) {
    if (std::regex_search(line, found, opens)) space = found[1];
    if (std::regex_match(line, found, defines)) types.push_back(space + "::" + found[1].str());
  }
  return types;
}

TEST(Types, EachIsDefinedInOneHeader) {
  std::map<std::string, std::vector<std::string>> headersOf;
  for (const char* folder : {"core", "ui", "app"})
    for (const auto& entry : fs::recursive_directory_iterator(fs::path(FUSESCOPE_SOURCE_DIR) / folder))
      if (entry.path().extension() == ".h")
        for (const std::string& type : typesOf(entry.path()))
          headersOf[type].push_back(fs::relative(entry.path(), FUSESCOPE_SOURCE_DIR).string());
  EXPECT_GT(headersOf.size(), 500U);
  for (const auto& [type, headers] : headersOf)
    EXPECT_EQ(headers.size(), 1U) << type << " is defined in " << headers.front() << " and in " << headers.back();
}

}  // namespace
