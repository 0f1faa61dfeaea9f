#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace fusescope {

// Python scripts that make networks. Nothing here runs them; `import` does (compilers/torch/capture_program.h).

/// A function of a script, as a user names it: "net.py:make".
struct ScriptFunction {
  std::filesystem::path script;
  std::string function;
};

/// Returns the function that `text` names, if the part before its last colon is a script and no file has the whole text
/// as its name. The part after the colon is not checked.
std::optional<ScriptFunction> scriptFunctionNamed(const std::string& text);

/// Returns whether `text` is a Python name with ASCII characters only.
bool isPythonName(std::string_view text);

/// Returns whether `path` is a text file with the extension of Python scripts.
bool isScript(const std::filesystem::path& path);

/// If `path` names a script or a function of one, returns why it is not opened as a network, and the command that makes
/// a network of it. Otherwise it returns nothing.
std::optional<Diagnostic> whyScriptIsNotOpened(const std::filesystem::path& path);

}  // namespace fusescope
