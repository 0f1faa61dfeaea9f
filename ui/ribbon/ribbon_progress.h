#pragma once

#include <string>

#include "session/tune_answer.h"
#include "session/worker_protocol.h"
#include "ui/ribbon/ribbon_painter.h"

namespace fusescope {

/// Finds out from what the worker tells how far it is. Fused nodes and segments are taken in the order of execution, so
/// that what stands before the one that is named is through; where no name is told, no place is shown. A kernel that is
/// measured again does not take the mark back.
class ProgressFollower {
 public:
  /// `run`: which the work is for; `phase` and `detail` as the worker tells them, `activity` in words.
  RibbonProgress heard(const RibbonPicture& picture, const std::string& run, const QString& phase,
                       const QString& detail, const QString& activity);
  /// The same of what a dialog has the worker do: a search for pins, whose sets are marked where their kernels are in
  /// the last lane, a calibration, which goes through the network, or a search for what makes an output wrong, which
  /// goes through it once for each build.
  RibbonProgress heardOther(const RibbonPicture& picture, const WorkSettings& work, const QString& phase,
                            const QString& detail);
  /// That came to its end.
  void endOther();

 private:
  RibbonProgress searching(const RibbonPicture& picture) const;
  RibbonProgress bisecting(const RibbonPicture& picture, const QString& phase, const QString& detail);

  QString m_phase;
  std::string m_run;
  std::int64_t m_farthest = -1;  ///< kernel that the phase reached
  QString m_preparing;           ///< of a search: what is done before and between evaluations, or which build it tries
  // Of a search for pins.
  std::optional<TunedTry> m_tried;
  std::optional<TunedPoint> m_best;
};

}  // namespace fusescope
