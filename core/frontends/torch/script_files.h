#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace fusescope {

// Scripts of Python that make networks. Nothing here runs them: `import` does (compilers/torch/capture_program.h).

/// A function of a script, as a user names it: "net.py:make".
struct ScriptFunction {
  std::filesystem::path script;
  std::string function;
};

/// What `text` names, if the part before its last colon is a script, and no file has the whole as its name. The part
/// behind the colon is taken as it is.
std::optional<ScriptFunction> scriptFunctionNamed(const std::string& text);

/// Whether `text` is a name as Python has them, without those that are not ASCII.
bool isPythonName(std::string_view text);

/// Whether `path` is a file that is called as scripts of Python are, and holds text.
bool isScript(const std::filesystem::path& path);

/// Why what `path` names is not opened as a network, and the command that makes one of it, if it is a script or a
/// function of one; nothing where it is something else.
std::optional<Diagnostic> whyScriptIsNotOpened(const std::filesystem::path& path);

}  // namespace fusescope
