#pragma once

#include <filesystem>
#include <fstream>
#include <regex>
#include <string>
#include <vector>

namespace fusescope::test {

/// An #include in a source.
struct SourceInclude {
  std::filesystem::path file;  ///< relative to the source root
  std::string header;          ///< as it is written
};

/// Returns every #include of the sources and headers below `folder`, which is relative to the source root.
inline std::vector<SourceInclude> includesBelow(const std::string& folder) {
  namespace fs = std::filesystem;
  const fs::path root = FUSESCOPE_SOURCE_DIR;
  const std::regex directive("^\\s*#\\s*include\\s*[<\"]([^>\"]+)[>\"]");
  std::vector<SourceInclude> includes;
  for (const auto& entry : fs::recursive_directory_iterator(root / folder)) {
    const auto extension = entry.path().extension();
    if (extension != ".cpp" && extension != ".h" && extension != ".inc") continue;
    std::ifstream file(entry.path());
    std::smatch match;
    for (std::string line; std::getline(file, line);)
      if (std::regex_search(line, match, directive)) includes.push_back({fs::relative(entry.path(), root), match[1]});
  }
  return includes;
}

}  // namespace fusescope::test
