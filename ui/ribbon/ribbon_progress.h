#pragma once

#include <string>

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

 private:
  QString m_phase;
  std::string m_run;
  std::int64_t m_farthest = -1;  ///< kernel that the phase reached
};

}  // namespace fusescope
