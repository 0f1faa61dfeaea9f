#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace fusescope {

/// Returns `text` as a string literal of Python. A JSON string is one if characters beyond ASCII are not escaped.
std::string pythonText(const std::string& text);

/// Returns "VARIABLE = [", one line per string, "]".
std::string pythonList(std::string_view variable, const std::vector<std::string>& texts);

/// Returns a regular expression for Python's `re` that matches exactly `name`.
std::string exactExpression(std::string_view name);

/// Returns an error for the name of a script that would hide a package which it imports, as openvino.py does.
Status checkScriptName(const std::filesystem::path& path, const std::vector<std::string>& packages);

}  // namespace fusescope
