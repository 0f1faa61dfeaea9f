#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "base/hash.h"

namespace fusescope {

/// Hashes bytes that come in pieces. The result is hashBytes() of all of them.
class RunningHash {
 public:
  RunningHash();
  ~RunningHash();
  RunningHash(RunningHash&&) noexcept;
  RunningHash& operator=(RunningHash&&) noexcept;
  void add(std::span<const std::byte> piece);
  Hash128 hash() const;

 private:
  struct State;
  std::unique_ptr<State> m_state;
};

}  // namespace fusescope
