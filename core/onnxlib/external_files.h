#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>

#include "base/mapped_file.h"
#include "base/result.h"

namespace fusescope::onnxlib {

/// The files with a model's external data; each is mapped once. No file outside the model's folder is opened.
class ExternalFiles {
 public:
  explicit ExternalFiles(const std::filesystem::path& model);
  /// Opens the file at `location`. The error names a location that is absolute, that leaves the folder (by ".." or
  /// through a link), or that does not exist. The next tensor at that location gets the same answer.
  Result<std::shared_ptr<const MappedFile>> open(const std::string& location);
  MappedFiles opened() const;

 private:
  Result<std::shared_ptr<const MappedFile>> find(const std::string& location) const;

  std::filesystem::path m_folder;
  std::map<std::string, Result<std::shared_ptr<const MappedFile>>> m_found;  ///< or why not, by location
};

}  // namespace fusescope::onnxlib
