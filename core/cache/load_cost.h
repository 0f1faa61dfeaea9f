#pragma once

#include <cstdint>
#include <optional>

namespace fusescope {

/// How long loading an entry of one kind takes on one machine: a fixed time and a time per byte. Both are learnt from
/// the loads of the store. They follow the quick loads and only slowly the slow ones, because a busy machine makes
/// loads slower, and never quicker, than they have to be.
struct LoadCost {
  std::int64_t loads = 0;           ///< loads that were measured
  std::optional<double> fixedMs;    ///< learnt from small entries; nothing if there was none
  std::optional<double> msPerByte;  ///< learnt from large entries; nothing if there was none
  bool operator==(const LoadCost&) const = default;

  void learn(std::uint64_t bytes, double ms);
  /// Returns whether enough loads were measured to decide by them.
  bool isKnown() const;
  /// Returns the milliseconds for an entry of this many unpacked bytes, as far as they are known: rather too few.
  double msFor(std::uint64_t bytes) const;
};

}  // namespace fusescope
