#include "app/cli/command.h"

#include <filesystem>

#include "base/files.h"
#include "session/inputs/sample_source.h"

namespace fusescope::cli {
namespace {

namespace fs = std::filesystem;

bool isSame(const fs::path& a, const fs::path& b) {
  std::error_code missing;
  return fs::exists(a, missing) && fs::exists(b, missing) && fs::equivalent(a, b, missing);
}

/// Returns whether `path` is `given`, or a file in the folder `given`.
bool isAmong(const fs::path& path, const fs::path& given) {
  std::error_code missing;
  if (!fs::is_directory(given, missing)) return isSame(path, given);
  for (const auto& entry : fs::recursive_directory_iterator(given, missing))
    if (isSame(path, entry.path())) return true;
  return false;
}

}  // namespace

Status checkOutput(const std::string& path, const std::string& option, const Artifact& artifact,
                   const SampleSource& inputs, const std::vector<std::string>& also) {
  if (auto writable = checkWritable(path); !writable.ok()) {
    Diagnostic error = std::move(writable).error();
    error.where.attribute = option;
    return error;
  }
  const auto isRead = [&](const std::string& what) {
    return Diagnostic{.message = "would be written over: " + what + " read from it",
                      .where = {.file = path, .attribute = option},
                      .help = "Give the name of another file."};
  };
  for (const FileIdentity& file : artifact.files)
    if (isSame(path, file.path)) return isRead("the network is");
  for (const std::string& given : inputs.paths)
    if (isAmong(path, given)) return isRead("inputs are");
  for (const std::string& given : also)
    if (isSame(path, given)) return isRead("options are");
  return Done{};
}

}  // namespace fusescope::cli
