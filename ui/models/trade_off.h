#pragma once

#include <optional>
#include <vector>

#include "ui/document/runs.h"
#include "ui/models/table_model.h"

namespace fusescope {

/// A run as a point in a plot of error against latency, or the reason why it has none.
struct TradeOffRun {
  std::string id;
  QString title;             ///< "run 3, f16, 2 pins"
  std::optional<double> ms;  ///< median; nothing: there is no time
  double minMs = 0, p95Ms = 0;
  bool quiet = true;            ///< nothing else used the machine while it was timed
  std::optional<double> error;  ///< max|Δ| over rms of the worst output; infinite if something became NaN or infinite
  std::int64_t pins = 0;
  QString why;  ///< why it has no point, for people
  bool hasPlace() const { return ms && error; }
  QString words() const;  ///< "run 3, f16: 1.23 ms (1.20 … 1.40), error 0.004, 2 pins"
};

/// Runs that were made under the same conditions, so that their differences come from their plans.
struct TradeOffGroup {
  QString words;                  ///< what they have in common: "fusescope, 2 threads, timed on photos.npz"
  std::vector<TradeOffRun> runs;  ///< in chronological order; those without a point are last
};

/// Returns all runs of a session in groups, the group with the most points first. Runs that differ in compiler, target,
/// backend, threads, machine, model, extents or inputs are never in one group.
std::vector<TradeOffGroup> tradeOffGroups(const Runs& runs);

/// Returns the runs of a group as a table: name, time, error, pins, and remarks.
TableContent tradeOffContent(const TradeOffGroup& group, const std::vector<std::string>& front);

}  // namespace fusescope
