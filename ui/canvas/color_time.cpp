#include "ui/canvas/color_mode.h"

namespace fusescope {

namespace {

BoxColor colorOf(const ColorSource& source) {
  const bool known = source.time.known() && source.slowestMs > 0;
  return {known ? heatColor(source.time.ms / source.slowestMs, source.theme) : source.theme.disabledText, QString(),
          std::nullopt};
}

}  // namespace

extern const ColorMode kTimeColors{"time", "Time", LegendOf::Times, colorOf};

}  // namespace fusescope
