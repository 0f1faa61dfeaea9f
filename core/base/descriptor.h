#pragma once

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include "base/result.h"

namespace fusescope {

/// Owns a file descriptor and closes it when it is destroyed.
class Descriptor {
 public:
  explicit Descriptor(int number = -1) : m_number(number) {}
  Descriptor(Descriptor&& other) noexcept : m_number(other.release()) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    if (this == &other) return *this;
    close();
    m_number = other.release();
    return *this;
  }
  ~Descriptor() { close(); }
  int number() const { return m_number; }
  bool isOpen() const { return m_number >= 0; }
  void close() {
    if (isOpen()) ::close(release());
  }
  int release() { return std::exchange(m_number, -1); }

 private:
  int m_number;
};

/// Returns an error for `action` on `path` that gives the system's reason, which it reads from errno.
inline Diagnostic systemError(const std::filesystem::path& path, std::string_view action) {
  return {.message = std::string(action) + ": " + std::strerror(errno), .where = {.file = path.string()}};
}

}  // namespace fusescope
