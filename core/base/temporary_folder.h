#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"

namespace fusescope {

/// A folder of this process's own, which goes with all that is in it when this does. It is locked as long as its
/// process lives: what a killed one left goes when the next of its name, or of Fusescope's names, is made beside it.
class TemporaryFolder {
 public:
  /// In `parent`, which must be there, under a name that begins with `name` and that no other folder has. Errors: it
  /// cannot be made, with the system's reason.
  static Result<TemporaryFolder> in(const std::filesystem::path& parent, std::string_view name);
  TemporaryFolder(TemporaryFolder&& other) noexcept : m_path(std::exchange(other.m_path, {})) {}
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(TemporaryFolder&&) = delete;
  ~TemporaryFolder();

  const std::filesystem::path& path() const { return m_path; }
  std::filesystem::path operator/(std::string_view name) const { return m_path / name; }

 private:
  explicit TemporaryFolder(std::filesystem::path path) : m_path(std::move(path)) {}
  std::filesystem::path m_path;
};

}  // namespace fusescope
