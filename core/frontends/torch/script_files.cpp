#include "frontends/torch/script_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <fstream>

#include "base/shell_quoted.h"

namespace fusescope {

namespace fs = std::filesystem;

std::optional<ScriptFunction> scriptFunctionNamed(const std::string& text) {
  std::error_code none;
  const std::size_t colon = text.rfind(':');
  if (colon == std::string::npos || fs::exists(text, none)) return {};
  const std::string script = text.substr(0, colon);
  if (!isScript(script)) return {};
  return ScriptFunction{.script = script, .function = text.substr(colon + 1)};
}

bool isPythonName(std::string_view text) {
  const auto isLetter = [](char each) {
    return (each >= 'a' && each <= 'z') || (each >= 'A' && each <= 'Z') || each == '_';
  };
  const auto isDigit = [](char each) { return each >= '0' && each <= '9'; };
  return !text.empty() && isLetter(text.front()) &&
         std::ranges::all_of(text, [&](char each) { return isLetter(each) || isDigit(each); });
}

bool isScript(const fs::path& path) {
  std::error_code none;
  if (path.extension() != ".py" || !fs::is_regular_file(path, none)) return false;
  std::array<char, 512> begin{};
  std::ifstream file(path, std::ios::binary);
  file.read(begin.data(), begin.size());
  return std::all_of(begin.begin(), begin.begin() + file.gcount(), [](char each) {
    return static_cast<unsigned char>(each) >= ' ' || each == '\n' || each == '\r' || each == '\t' || each == '\f';
  });
}

std::optional<Diagnostic> whyScriptIsNotOpened(const fs::path& path) {
  constexpr const char* kHelp =
      "torch can make an exported program of what one of its functions returns, and a network of that: fusescope "
      "import {}.";
  if (const auto named = scriptFunctionNamed(path.string()))
    return Diagnostic{.message = fmt::format("'{}' is a function of a script, not a network", named->function),
                      .where = {.file = named->script.string()},
                      .help = fmt::format(kHelp, shellQuoted(path.string()))};
  if (!isScript(path)) return {};
  return Diagnostic{.message = "is a Python script, not a network",
                    .where = {.file = path.string()},
                    .help = fmt::format(kHelp, shellQuoted(path.string() + ":FUNCTION"))};
}

}  // namespace fusescope
