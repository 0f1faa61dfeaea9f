#pragma once

#include <filesystem>
#include <utility>

#include "base/result.h"
#include "probe/started_process.h"

namespace fusescope {

/// A folder for what comes from other machines, which goes with this. It is locked while the process lives: folders of
/// processes that were killed are removed when the next one is made.
class AnswerFolder {
 public:
  static Result<AnswerFolder> make();
  AnswerFolder(AnswerFolder&& other) noexcept
      : m_path(std::exchange(other.m_path, {})), m_lock(std::move(other.m_lock)) {}
  AnswerFolder& operator=(AnswerFolder&&) = delete;
  ~AnswerFolder();
  const std::filesystem::path& path() const { return m_path; }

 private:
  AnswerFolder(std::filesystem::path path, Descriptor lock) : m_path(std::move(path)), m_lock(std::move(lock)) {}
  std::filesystem::path m_path;
  Descriptor m_lock;
};

}  // namespace fusescope
