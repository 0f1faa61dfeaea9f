#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/json_fwd.h"
#include "base/mapped_file.h"
#include "base/result.h"

namespace fusescope {

/// A file, identified by its path and its content.
struct FileContent {
  std::string path;
  std::string content;     ///< hash of its bytes, in hex; empty: unknown
  std::int64_t bytes = 0;  ///< size of the file
  bool operator==(const FileContent&) const = default;
};

/// The file of a model, and the files with its weights.
struct ModelFile : FileContent {
  std::vector<FileContent> data;  ///< external data, in the order in which the model names it
  /// Returns a text that is equal for equal contents of all these files, whatever their paths; empty: unknown.
  std::string identity() const;
  bool operator==(const ModelFile&) const = default;
};

/// Reads a file completely and identifies it. Errors: it cannot be read.
Result<ModelFile> identify(const std::filesystem::path& path);
/// Identifies all files that a model was read from (Model::files), with their contents at that time. The first one is
/// the model's own.
Result<ModelFile> identify(const MappedFiles& files);

/// How files on disk differ from those that were identified.
enum class ModelChange { Same, Changed, Missing };
struct ModelState {
  ModelChange change = ModelChange::Same;
  std::string file;  ///< the first file that differs; empty: none. A missing data file counts as a change of the model
};
/// Compares the files on disk with `model`. A file is only read if its size is unchanged.
ModelState stateOnDisk(const ModelFile& model);

/// Writes the files. Paths below `folder` are written relative to it, and those of data relative to the folder of the
/// model, because they move with it. SESSION_FORMAT.md describes the format.
Json toJson(const ModelFile& model, const std::filesystem::path& folder);
Result<ModelFile> modelFileFromJson(const Json& json, const std::filesystem::path& folder);
/// Returns the same model at `path`, with its data beside it.
ModelFile movedTo(ModelFile model, const std::filesystem::path& path);

std::string relativeTo(const std::string& path, const std::filesystem::path& folder);  ///< unchanged if it is not below
                                                                                       ///< `folder`
std::string resolved(const std::string& path, const std::filesystem::path& folder);    ///< the inverse

}  // namespace fusescope
