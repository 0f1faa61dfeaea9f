#include "interchange/python_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/json.h"

namespace fusescope {

std::string pythonText(const std::string& text) {
  return Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string pythonList(std::string_view variable, const std::vector<std::string>& texts) {
  std::string list = fmt::format("{} = [\n", variable);
  for (const std::string& text : texts) list += "    " + pythonText(text) + ",\n";
  return list + "]\n";
}

std::string exactExpression(std::string_view name) {
  constexpr std::string_view kSpecial = R"(\.^$*+?{}[]|())";
  std::string expression = "^";
  for (const char c : name) {
    if (kSpecial.find(c) != std::string_view::npos) expression += '\\';
    expression += c;
  }
  return expression + R"(\Z)";  // a $ would also match before a line break at the end
}

Status checkScriptName(const std::filesystem::path& path, const std::vector<std::string>& packages) {
  const std::string name = path.stem().string();
  if (path.extension() != ".py" || std::ranges::find(packages, name) == packages.end()) return Done{};
  return Diagnostic{
      .message = fmt::format("Python would import this file instead of the package '{}', which it needs", name),
      .where = {.file = path.string(), .attribute = "--output"},
      .help = "Give the script another name."};
}

}  // namespace fusescope
