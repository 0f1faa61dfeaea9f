#include "tests/conformance/agreement/recorded.h"

#include <charconv>
#include <sstream>

#include "base/files.h"

namespace fusescope::conformance {
namespace {

/// Splits off the first word; the rest begins with the second.
std::string firstWord(std::string& line) {
  const std::size_t end = line.find(' ');
  std::string word = line.substr(0, end);
  const std::size_t next = end == std::string::npos ? end : line.find_first_not_of(' ', end);
  line = next == std::string::npos ? std::string() : line.substr(next);
  return word;
}

/// Takes one line in; false: it has another form, or says something again.
bool takeLine(std::string line, Recorded& recorded) {
  const std::string kind = firstWord(line);
  if (line.empty()) return false;
  if (kind == "compiler") {
    recorded.compiler = line;
  } else if (kind == "target") {
    recorded.target = line;
  } else if (kind == "cases") {
    const auto [end, problem] = std::from_chars(line.data(), line.data() + line.size(), recorded.cases);
    return problem == std::errc() && end == line.data() + line.size();
  } else if (kind == "taken") {
    return recorded.taken.insert(line).second;
  } else if (kind == "differs") {
    const std::string name = firstWord(line);
    return !line.empty() && recorded.differs.emplace(name, line).second;
  } else {
    return false;
  }
  return true;
}

}  // namespace

Result<Recorded> Recorded::read(const std::filesystem::path& path) {
  std::istringstream lines(TRY(readTextFile(path.string())));
  Recorded recorded;
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    if (line.empty() || line.starts_with('#') || takeLine(line, recorded)) continue;
    return Diagnostic{.message = "line " + std::to_string(number) +
                                 " is of no form that is known, or says again what "
                                 "was said: " +
                                 line,
                      .where = {.file = path.string()}};
  }
  if (recorded.compiler.empty() || recorded.target.empty() || recorded.cases == 0)
    return Diagnostic{.message = "names no compiler, no target or no number of cases",
                      .where = {.file = path.string()}};
  return recorded;
}

}  // namespace fusescope::conformance
