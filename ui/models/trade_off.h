#pragma once

#include <optional>
#include <vector>

#include "ui/document/runs.h"
#include "ui/models/table_model.h"

namespace fusescope {

/// A run with what its place in a plot of error against latency says, or why it has none.
struct TradeOffRun {
  std::string id;
  QString title;             ///< "run 3, f16, 2 pins"
  std::optional<double> ms;  ///< median; nothing: it has no time
  double minMs = 0, p95Ms = 0;
  bool quiet = true;            ///< nothing else wanted the machine while it was timed
  std::optional<double> error;  ///< max|Δ| over rms of the worst output; infinite where something became no number
  std::int64_t pins = 0;
  QString why;  ///< of one without a place, for people
  bool hasPlace() const { return ms && error; }
  QString words() const;  ///< "run 3, f16: 1.23 ms (1.20 … 1.40), error 0.004, 2 pins"
};

/// Runs that were made alike but for their plans: what differs between them is the plans' doing.
struct TradeOffGroup {
  QString words;                  ///< "fusescope, 2 threads, timed on photos.npz": what they have in common
  std::vector<TradeOffRun> runs;  ///< in the order in which they were made; those without a place last
};

/// All runs of a session, in groups, the one with the most places first. Runs that differ in compiler, target, backend,
/// threads, machine, model, extents or inputs are never in one group.
std::vector<TradeOffGroup> tradeOffGroups(const Runs& runs);

/// The runs of a group as a table: name, time, error, pins, and what there is to say.
TableContent tradeOffContent(const TradeOffGroup& group, const std::vector<std::string>& front);

}  // namespace fusescope
