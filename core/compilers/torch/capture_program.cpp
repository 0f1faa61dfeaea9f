#include "compilers/torch/capture_program.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <fstream>

#include "base/files.h"
#include "base/temporary_folder.h"
#include "compilers/torch/torch_job.h"
#include "frontends/torch/pt2_importer.h"
#include "frontends/torch/script_files.h"
#include "probe/sha256.h"

namespace fusescope {
namespace fs = std::filesystem;

namespace {

bool isOnnxWanted(const CaptureOptions& options) {
  return options.into.extension() == ".onnx";
}

Diagnostic wrongUse(std::string message, const char* option, std::string help = {}) {
  return {.message = std::move(message), .where = {.attribute = option}, .help = std::move(help)};
}

Status checkOptions(const CodeToRun& code, const CaptureOptions& options) {
  if (code.kind == CodeKind::Script) {
    if (!options.inputs.empty())
      return wrongUse("is only for TorchScript; the function of a script returns example inputs itself", "--input");
    if (isOnnxWanted(options))
      return wrongUse("must name the exported program, a .pt2 file", "-o",
                      "fusescope export --to onnx writes the network that torch makes.");
    return Done{};
  }
  if (options.breaks)
    return wrongUse("is only for scripts: TorchDynamo observes Python code, and TorchScript contains none", "--breaks");
  if (options.inputs.empty())
    return Diagnostic{.message = "is TorchScript, which does not contain the extents of its inputs, and none are given",
                      .where = {.file = code.file.string()},
                      .help =
                          "Give the extents of each argument of forward(), and its type if that is not f32: --input "
                          "x=1,3,224,224 --input ids=1,128:int64."};
  return Done{};
}

fs::path targetOf(const CodeToRun& code, const CaptureOptions& options) {
  return options.into.empty() ? defaultProgramPath(code) : options.into;
}

Json requestFor(const CodeToRun& code, const CaptureOptions& options) {
  if (code.kind == CodeKind::Script)
    return {{"op", "capture"},
            {"script", {{"path", code.file.string()}, {"function", code.function}, {"sha256", code.sha256}}},
            {"breaks", options.breaks}};
  Json inputs = Json::array();
  for (const TorchScriptInput& input : options.inputs)
    inputs.push_back({{"name", input.name}, {"type", name(input.type)}, {"dims", input.dims}});
  const char* wanted = isOnnxWanted(options) ? "onnx" : options.into.empty() ? "" : "pt2";
  return {{"op", "capture"}, {"torchscript", {{"sha256", code.sha256}}}, {"inputs", inputs}, {"wanted", wanted}};
}

/// Checks that `target` can be written.
Status checkTarget(const CodeToRun& code, const CaptureOptions& options, const fs::path& target) {
  std::error_code none;
  const bool isThere = fs::exists(fs::symlink_status(target, none));
  if (isThere && fs::exists(target, none) && fs::equivalent(target, code.file, none))
    return Diagnostic{.message = "is the file from which the program is made, and would be written over",
                      .where = {.file = target.string(), .attribute = "-o"},
                      .help = "Give the program another name with -o."};
  if (isThere && !options.overwrites)
    return Diagnostic{.message = "exists already and is not written over",
                      .where = {.file = target.string(), .attribute = "-o"},
                      .help = "Give another name with -o, or give --overwrite."};
  auto writable = checkWritable(target);
  if (writable.ok()) return Done{};
  Diagnostic error = std::move(writable).error();
  error.where.attribute = "-o";
  return error;
}

Status put(const fs::path& made, const fs::path& target) {
  return writeFileAtomically(target, [&](const fs::path& temporary) -> Status {
    std::error_code failed;
    fs::copy_file(made, temporary, fs::copy_options::overwrite_existing, failed);
    if (failed) return Diagnostic{.message = failed.message(), .where = {.file = target.string()}};
    return Done{};
  });
}

/// Moves the files that the probe wrote to the place that the user chose.
Status keep(const CodeToRun& code, const CaptureOptions& options, const ProbeAnswer& answer,
            CapturedProgram& captured) {
  const bool isOnnx = answer.files.contains(kCapturedNetwork);
  fs::path target = targetOf(code, options);
  if (isOnnx && options.into.empty()) target.replace_extension(".onnx");
  CaptureOptions now = options;
  now.into = target;
  TRY(checkCapture(code, now));  // torch may have taken long, and the path may refer to another file now
  TRY(put(answer.files.at(isOnnx ? kCapturedNetwork : kCapturedProgram), target));
  (isOnnx ? captured.network : captured.program) = target;
  return Done{};
}

}  // namespace

fs::path defaultProgramPath(const CodeToRun& code) {
  fs::path path = code.file;
  path.replace_extension(code.kind == CodeKind::Script ? "." + code.function + ".pt2" : ".pt2");
  return path;
}

Status checkCapture(const CodeToRun& code, const CaptureOptions& options) {
  TRY(checkOptions(code, options));
  TRY(checkTarget(code, options, targetOf(code, options)));
  // For TorchScript, torch may make an ONNX file instead.
  if (code.kind == CodeKind::TorchScript && options.into.empty())
    TRY(checkTarget(code, options, targetOf(code, options).replace_extension(".onnx")));
  return Done{};
}

Result<CapturedProgram> captureProgram(const CodeToRun& code, const CaptureOptions& options, const StopToken& stop,
                                       const Progress& progress) {
  const std::string now = TRY(sha256OfFile(code.file, stop));
  if (code.sha256.empty() || options.confirmed != code.sha256 || now != code.sha256)
    return Diagnostic{.message = now == code.sha256 ? "is code that nobody has confirmed, so it is not run"
                                                    : "has changed since it was confirmed, so it is not run",
                      .where = {.file = code.file.string()}};
  TRY(checkCapture(code, options));
  if (progress) progress("start torch", options.environment);
  auto job = TRY(torchJobFor(torchIn(options.environment), code.file, stop));
  const TemporaryFolder folder = TRY(TemporaryFolder::in(fs::temp_directory_path(), "fusescope.program"));
  const char* handed = code.kind == CodeKind::Script ? "script.py" : "model.pt";
  auto answer = job->ask({.json = requestFor(code, options), .files = {{handed, code.file}}, .folder = folder.path()},
                         stop, progress);
  job.reset();  // the user's code ran in this process, so that it is not used again
  if (!answer.ok()) return atFile(std::move(answer).error(), code.file);
  CapturedProgram captured = TRY(capturedFrom(code, answer.value()));
  if (!captured.problem) TRY(keep(code, options, answer.value(), captured));
  return captured;
}

}  // namespace fusescope
