#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>

#include "base/mapped_file.h"
#include "base/result.h"

namespace fusescope::onnxlib {

/// The files beside a model that hold its external data, each mapped once. Nothing outside the model's folder is
/// opened.
class ExternalFiles {
 public:
  explicit ExternalFiles(const std::filesystem::path& model);
  /// Errors name the location: absolute, leaving the folder (by ".." or through a link), missing.
  Result<std::shared_ptr<const MappedFile>> open(const std::string& location);
  MappedFiles opened() const;

 private:
  std::filesystem::path m_folder;
  std::map<std::string, std::shared_ptr<const MappedFile>> m_open;
};

}  // namespace fusescope::onnxlib
