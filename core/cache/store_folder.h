#pragma once

#include <fcntl.h>
#include <sys/file.h>

#include <chrono>
#include <filesystem>
#include <thread>

#include "base/descriptor.h"

// What the parts of DiskStore know of its folder.
namespace fusescope {

inline constexpr const char* kIndexFile = "index.sqlite";
/// The name of the setting for the most bytes of all entries together.
inline constexpr const char* kLimitSetting = "limit";

/// The number of attempts after which waiting for a lock of another process is given up.
inline constexpr int kLockTries = 100;
inline constexpr std::chrono::milliseconds kLockPause{5};

/// A lock on the folder. Writers share it from the first byte of a blob until the index contains the blob; a process
/// that removes files without an entry holds it exclusively. The system releases it when the process ends.
class StoreLock {
 public:
  StoreLock(const std::filesystem::path& folder, int how, int tries = kLockTries)
      : m_file(::open((folder / "lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)) {
    for (int i = 0; m_file.isOpen() && !m_isHeld && i < tries; ++i) {
      if (i > 0) std::this_thread::sleep_for(kLockPause);
      m_isHeld = ::flock(m_file.number(), how | LOCK_NB) == 0;
    }
  }
  bool isHeld() const { return m_isHeld; }

 private:
  Descriptor m_file;
  bool m_isHeld = false;
};

}  // namespace fusescope
