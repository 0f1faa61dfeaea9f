#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "base/result.h"
#include "base/stop.h"

namespace fusescope {

enum class CodeKind { Script, TorchScript };

/// A file whose code torch runs in order to make a program from it.
struct CodeToRun {
  CodeKind kind = CodeKind::Script;
  std::filesystem::path file;  ///< absolute
  std::string function;        ///< the function of a script
  std::string sha256;          ///< the hash of the content, which the user confirms
};

/// Returns the code that `given` names: "SCRIPT.py:FUNCTION", or the path of a TorchScript file, which is recognised by
/// its content. Returns nothing for another file. Runs nothing. Errors: a script without a function, a function that is
/// not a name, weights or modules of torch.save(), which contain no graph; the file cannot be read.
Result<std::optional<CodeToRun>> codeNamed(const std::string& given, const StopToken& stop = {});

}  // namespace fusescope
