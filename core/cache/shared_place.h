#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace fusescope {

/// How long a place is waited for: `limit` until it answers, and a second more for each 20 MB that it has taken or
/// given. So whatever is slower than that, or silent, costs `limit` beyond what it was worth.
class Patience {
 public:
  explicit Patience(std::chrono::milliseconds limit) : m_limit(limit) {}
  /// Of the side that works: so many bytes more went either way.
  void moved(std::size_t bytes) { m_bytes += static_cast<std::int64_t>(bytes); }
  /// When it is over, as far as one can say now.
  std::chrono::steady_clock::time_point end() const {
    return m_start + m_limit + std::chrono::microseconds(m_bytes.load() / kBytesPerMicrosecond);
  }
  bool isOver() const { return std::chrono::steady_clock::now() >= end(); }
  std::chrono::milliseconds limit() const { return m_limit; }

 private:
  static constexpr std::int64_t kBytesPerMicrosecond = 20;
  const std::chrono::steady_clock::time_point m_start = std::chrono::steady_clock::now();
  const std::chrono::milliseconds m_limit;
  std::atomic<std::int64_t> m_bytes{0};
};

/// Whether a place took what it was given. One that refuses is there, and may have what is asked for later.
struct PutAnswer {
  std::string refusal;  ///< why it did not, as a sentence; empty: it did
};

/// Where a team keeps things together: bytes under names, which are 64 hexadecimal digits. Knows nothing of what they
/// mean, and is not trusted. Used by one thread at a time.
class SharedPlace {
 public:
  virtual ~SharedPlace() = default;
  /// What Kept::where says of it: "shared folder", "redis".
  virtual std::string_view kind() const = 0;
  /// For people: the folder, the address.
  virtual std::string where() const = 0;
  /// Nothing larger is put there, or taken from there.
  virtual std::uint64_t mostBytes() const = 0;
  /// Nothing: it has nothing under that name. Errors: it does not answer within the time, or not as it should.
  virtual Result<std::optional<std::string>> get(const std::string& name) = 0;
  /// Replaces what it has under that name, at once and whole. Errors: as those of get().
  virtual Result<PutAnswer> put(const std::string& name, std::string bytes) = 0;
};

/// The usual time that a place may take to answer.
inline constexpr std::chrono::milliseconds kPlacePatience{50};

}  // namespace fusescope
