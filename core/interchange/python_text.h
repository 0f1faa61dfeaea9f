#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace fusescope {

/// `text` as a string of Python. JSON's strings are Python's, as long as characters beyond ASCII stay themselves.
std::string pythonText(const std::string& text);

/// "VARIABLE = [", a line a string, "]".
std::string pythonList(std::string_view variable, const std::vector<std::string>& texts);

/// A regular expression of Python's `re` that matches `name` alone, from its beginning to its very end.
std::string exactExpression(std::string_view name);

/// Refuses a name for a script under which it would hide a package that it imports, as openvino.py does.
Status checkScriptName(const std::filesystem::path& path, const std::vector<std::string>& packages);

}  // namespace fusescope
