#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/mapped_file.h"
#include "base/result.h"

namespace fusescope {

/// A file by where it is and what is in it.
struct FileContent {
  std::string path;
  std::string content;     ///< hash of its bytes, in hex; empty: not known
  std::int64_t bytes = 0;  ///< of the file
  bool operator==(const FileContent&) const = default;
};

/// The file of a model, and the files beside it that hold its weights.
struct ModelFile : FileContent {
  std::vector<FileContent> data;  ///< external data, in the order in which the model names it
  /// Equal where all of these hold the same bytes, wherever they lie; empty: not known.
  std::string identity() const;
  bool operator==(const ModelFile&) const = default;
};

/// Reads the whole file. Errors: it cannot be read.
Result<ModelFile> identify(const std::filesystem::path& path);
/// The same of all that a model was read from (Model::files), as it was read: the first is the model's own.
Result<ModelFile> identify(const MappedFiles& files);

/// How the files on disk stand to those that were identified.
enum class ModelChange { Same, Changed, Missing };
struct ModelState {
  ModelChange change = ModelChange::Same;
  std::string file;  ///< the first that is not as it was; empty: all are. Data that is missing is a change of the model
};
/// Reads what has the size that it had.
ModelState stateOnDisk(const ModelFile& model);

/// Paths below `folder` are written relative to it; those of data relative to the folder of the model, with which they
/// move. SESSION_FORMAT.md.
Json toJson(const ModelFile& model, const std::filesystem::path& folder);
Result<ModelFile> modelFileFromJson(const Json& json, const std::filesystem::path& folder);
/// The same model, now at `path`, its data beside it.
ModelFile movedTo(ModelFile model, const std::filesystem::path& path);

std::string relativeTo(const std::string& path, const std::filesystem::path& folder);  ///< as it is, if not below
std::string resolved(const std::string& path, const std::filesystem::path& folder);    ///< the inverse

}  // namespace fusescope
