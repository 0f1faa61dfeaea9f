#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cache/kept_store.h"

namespace fusescope {

/// A measured time, with the facts that are needed to judge it and to predict other times from it.
struct Measurement {
  double ms = 0;
  double spread = 0;  ///< relative, of the samples
  std::string day;    ///< "2026-11-21"
  double median = 0;  ///< median of all samples, while `ms` is computed from the fastest ones
  bool quiet = true;  ///< nothing else used the machine
  bool operator==(const Measurement&) const = default;
};

/// The amount of work of a measured step. Times of one series are for the same kind of work in different amounts.
struct Workload {
  std::string series;  ///< canonical bytes of machine, kind, type …
  double work = 0;     ///< operations
  double traffic = 0;  ///< bytes or elements moved
};

/// A measurement and its amount of work.
struct WorkSample {
  double work = 0, traffic = 0;
  Measurement measured;
};

/// A measured time as it is kept.
struct KeptTime {
  std::string key;
  Measurement measured{};
  Workload workload{};
  bool hasWorkload = false;
};

/// Returns roughly how many milliseconds measuring this time took, which is what keeping it saves.
double msToMeasure(const Measurement& measured);

/// A farther level of measured times, such as the place of a team. Thread-safe.
class FartherTimes {
 public:
  virtual ~FartherTimes() = default;
  /// Returns the time of this key and others that are likely to be asked for too; nothing if it has none, or if they
  /// were returned before.
  virtual std::vector<KeptTime> ask(std::string_view key) = 0;
  /// Notes a time that was measured here, for write().
  virtual void note(const KeptTime& time) = 0;
  /// Writes what was noted since the last call.
  virtual void write() = 0;
  virtual std::string problem() const = 0;              ///< see KeptStore
  virtual std::vector<DamagedEntry> takeDamaged() = 0;  ///< see KeptStore
};

}  // namespace fusescope
