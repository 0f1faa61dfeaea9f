#pragma once

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "base/result.h"

namespace fusescope {

/// A file descriptor that is closed on leaving the scope.
class Descriptor {
 public:
  explicit Descriptor(int fd) : m_fd(fd) {}
  ~Descriptor() {
    if (m_fd >= 0) ::close(m_fd);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return m_fd; }

 private:
  int m_fd;
};

/// What errno says of `action` on `path`.
inline Diagnostic systemError(const std::filesystem::path& path, std::string_view action) {
  return {.message = std::string(action) + ": " + std::strerror(errno), .where = {.file = path.string()}};
}

}  // namespace fusescope
