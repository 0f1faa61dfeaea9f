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

/// How long a caller waits for a place: `limit` until it answers, and one more second for each 20 MB that were
/// transferred. A place that is slower, or silent, therefore costs at most `limit` more than the transfer is worth.
class TransferDeadline {
 public:
  explicit TransferDeadline(std::chrono::milliseconds limit) : m_limit(limit) {}
  /// Called by the working side: `bytes` more were sent or received.
  void moved(std::size_t bytes) { m_bytes += static_cast<std::int64_t>(bytes); }
  /// Returns when the time is over, as far as is known now.
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

/// Whether a place accepted an entry. A place that refuses an entry works and may still be asked for others.
struct PutAnswer {
  std::string refusal;  ///< why it refused the entry, as a sentence; empty: it accepted it
};

/// What a place has.
struct PlaceContents {
  std::int64_t entries = 0, bytes = 0;  ///< `bytes`: of the files or values as they are stored
};

/// What was removed from a place, and what is left.
struct PlaceCollected {
  std::int64_t removed = 0;     ///< entries
  std::int64_t unfinished = 0;  ///< files that writers left which were ended
  PlaceContents left{};
};

/// A place that a team shares: it stores bytes under names of 64 hexadecimal digits. It does not know their meaning,
/// and it is not trusted. It may be used by one thread at a time.
class SharedPlace {
 public:
  virtual ~SharedPlace() = default;
  /// Returns the text for Kept::where: "shared folder", "redis".
  virtual std::string_view kind() const = 0;
  /// Returns the folder or address, for people.
  virtual std::string where() const = 0;
  /// Returns the largest size of an entry that is written to or read from the place.
  virtual std::uint64_t mostBytes() const = 0;
  /// Returns nothing if the place has no entry of that name. Errors: it does not answer in time, or its answer is
  /// invalid.
  virtual Result<std::optional<std::string>> get(const std::string& name) = 0;
  /// Replaces the entry of that name atomically. Errors: those of get().
  virtual Result<PutAnswer> put(const std::string& name, std::string bytes) = 0;
  /// Returns whether the settings of this process are wrong: there is no such folder, or others can write it and there
  /// is no key. That is found out without waiting, and a person may correct it at any moment.
  virtual bool isWronglySet() { return false; }
  /// Counts what is there, which may take seconds. Errors: it takes longer than `limit`; the place is not counted.
  virtual Result<PlaceContents> contents(std::chrono::milliseconds limit) = 0;
  /// Removes entries until at most `mostBytes` are left, first those that were not used for longest, and what writers
  /// left that were ended. Others may read and write meanwhile: an entry that they replaced since it was looked at
  /// stays, and one that they read is read to its end or is as if it were not there. Errors: those of contents().
  virtual Result<PlaceCollected> collect(std::int64_t mostBytes, std::chrono::milliseconds limit) = 0;
};

/// The usual time that a place may take to answer.
inline constexpr std::chrono::milliseconds kPlaceTimeout{50};

}  // namespace fusescope
