#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"

namespace fusescope {

/// A temporary folder of this process, which is removed with its contents when the object is destroyed. It is locked as
/// long as the process lives. If a process is killed, its folder is removed when another TemporaryFolder with the same
/// name, or with one of Fusescope's names, is made in the same parent.
class TemporaryFolder {
 public:
  /// Makes a folder in `parent`, which must exist. Its name begins with `name` and differs from all others. If that
  /// fails, the error gives the system's reason.
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
