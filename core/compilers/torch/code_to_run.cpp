#include "compilers/torch/code_to_run.h"

#include <fmt/format.h>

#include <array>
#include <fstream>
#include <utility>

#include "compilers/torch/torch_job.h"
#include "frontends/torch/pt2_importer.h"
#include "frontends/torch/script_files.h"
#include "probe/sha256.h"

namespace fusescope {
namespace fs = std::filesystem;

namespace {

/// Returns whether the file is a pickle outside of an archive, as torch.save() wrote it before torch 1.6.
bool isBarePickle(const fs::path& path) {
  constexpr char kProtocol = '\x80';
  constexpr int kMostProtocol = 5;
  std::array<char, 2> begin{};
  std::ifstream file(path, std::ios::binary);
  return file.read(begin.data(), begin.size()) && begin[0] == kProtocol && begin[1] >= 0 && begin[1] <= kMostProtocol;
}

/// Returns nullopt for an exported program. Errors: the archive is something else.
Result<std::optional<CodeToRun>> notCode(const fs::path& path) {
  const auto program = torch::Pt2File::open(path);
  if (!program.ok()) return atFile(program.error(), path);
  return std::optional<CodeToRun>();
}

}  // namespace

Result<std::optional<CodeToRun>> codeNamed(const std::string& given, const StopToken& stop) {
  CodeToRun code;
  if (const auto named = scriptFunctionNamed(given)) {
    if (!isPythonName(named->function))
      return Diagnostic{.message = fmt::format("'{}' is not the name of a function", named->function),
                        .where = {.file = named->script.string()},
                        .help = "Name a function of a script as SCRIPT.py:FUNCTION."};
    code.file = named->script;
    code.function = named->function;
  } else if (isScript(given)) {
    return *whyScriptIsNotOpened(given);
  } else if (isTorchFile(given)) {
    if (!torch::isTorchScript(given)) return notCode(given);
    code.kind = CodeKind::TorchScript;
    code.file = given;
  } else if (isBarePickle(given)) {
    return Diagnostic{.message = "contains weights or a module that torch.save() wrote, but no graph",
                      .where = {.file = given},
                      .help =
                          "Write a function into a script that makes the module, loads this file and returns "
                          "(module, example inputs): fusescope import SCRIPT.py:FUNCTION."};
  } else {
    return std::optional<CodeToRun>();
  }
  std::error_code failed;
  code.file = fs::canonical(code.file, failed);
  if (failed) return Diagnostic{.message = failed.message(), .where = {.file = given}};
  code.sha256 = TRY(sha256OfFile(code.file, stop));
  return std::optional(std::move(code));
}

}  // namespace fusescope
