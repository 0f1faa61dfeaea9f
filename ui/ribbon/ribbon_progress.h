#pragma once

#include <string>

#include "session/tune_answer.h"
#include "session/worker_protocol.h"
#include "ui/ribbon/ribbon_painter.h"

namespace fusescope {

/// Derives the progress of the worker from its messages. Fused nodes and segments are processed in order of execution,
/// so that everything before the named one is done; without a name, no position is shown. A kernel that is measured
/// again does not move the mark back.
class ProgressFollower {
 public:
  /// `run` is the run that the work is for; `phase` and `detail` come from the worker, and `activity` is a text about
  /// them.
  RibbonProgress followRun(const RibbonPicture& picture, const std::string& run, const QString& phase,
                           const QString& detail, const QString& activity);
  /// Does the same for work of a dialog: a search for pins, whose sets are marked at their kernels in the last lane; a
  /// calibration, which goes through the network; or a search for what makes an output wrong, which goes through it
  /// once for each build.
  RibbonProgress followDialog(const RibbonPicture& picture, const WorkSettings& work, const QString& phase,
                              const QString& detail);
  /// Says that the work of a dialog has ended.
  void endDialog();

 private:
  RibbonProgress searching(const RibbonPicture& picture) const;
  RibbonProgress bisecting(const RibbonPicture& picture, const QString& phase, const QString& detail);

  QString m_phase;
  std::string m_run;
  std::int64_t m_farthest = -1;  ///< the kernel that the phase has reached
  QString m_preparing;           ///< for a search: what is done before and between evaluations, or which build is tried
  // The set of pins that a search is trying.
  std::optional<TunedTry> m_tried;
  std::optional<TunedPoint> m_best;
};

}  // namespace fusescope
