#pragma once

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "base/temporary_folder.h"
#include "cache/shared_store.h"

namespace fusescope {

/// On a busy machine any place is slow; what is not about time has enough of it.
inline constexpr std::chrono::milliseconds kEnoughTime{60'000};

inline SigningKey teamKey() {
  return {.bytes = "the key of one team, of more than 32 bytes"};
}
inline SigningKey otherKey() {
  return {.bytes = "the key of another team, of more than 32 bytes"};
}

inline KeptFacts answerFacts(const std::string& about = "an answer") {
  return {.kind = "answer", .about = about, .madeBy = "1", .madeMs = 50};
}

/// Differs from key to key and version to version, and says which it is of.
inline std::string sharedContent(int key, int version, int bytes = 3000) {
  std::mt19937_64 random(static_cast<std::uint64_t>(key) * 1000 + static_cast<std::uint64_t>(version));
  std::string text = std::to_string(key) + " " + std::to_string(version) + " ";
  for (int i = 0; i < bytes; ++i) text += static_cast<char>(random());
  return text;
}

/// Whether `bytes` are those of some version of `key`, whole.
inline bool isSharedContent(const std::string& bytes, int key, int size = 3000) {
  const std::size_t blank = bytes.find(' ');
  if (blank == std::string::npos || bytes.substr(0, blank) != std::to_string(key)) return false;
  return bytes == sharedContent(key, std::atoi(bytes.c_str() + blank + 1), size);
}

inline std::string foundIn(KeptStore& store, std::string_view key) {
  const auto kept = store.find("answer", key);
  return kept ? kept->bytes : std::string("nothing");
}

/// A clock that stands until it is set forward.
class StandingClock {
 public:
  void pass(std::chrono::seconds by) { *m_now += by; }
  std::function<std::chrono::steady_clock::time_point()> clock() const {
    return [now = m_now] { return *now; };
  }

 private:
  const std::shared_ptr<std::chrono::steady_clock::time_point> m_now =
      std::make_shared<std::chrono::steady_clock::time_point>(std::chrono::steady_clock::now());
};

inline std::string bytesOfFile(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline void writeBytes(const std::filesystem::path& path, std::string_view bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc)
      .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

/// Does all of `works` at once, each in a process of its own; whether each ended with true.
inline bool holdInProcesses(const std::vector<std::function<bool()>>& works) {
  std::vector<pid_t> children;
  for (const auto& work : works) {
    const pid_t child = ::fork();
    if (child == 0) ::_exit(work() ? 0 : 1);
    children.push_back(child);
  }
  bool hold = true;
  for (const pid_t child : children) {
    int status = 0;
    ::waitpid(child, &status, 0);
    hold &= WIFEXITED(status) && WEXITSTATUS(status) == 0;
  }
  return hold;
}

}  // namespace fusescope
