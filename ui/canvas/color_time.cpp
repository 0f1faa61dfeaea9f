#include "ui/canvas/color_mode.h"
#include "ui/document/qt_text.h"

namespace fusescope {

namespace {

std::optional<double> amountOf(const CanvasItem&, const ShownTime& time) {
  return time.known() ? std::optional(time.ms) : std::nullopt;
}

BoxColor colorOf(const ColorSource& source) {
  if (isBorderOfNetwork(source.item)) return borderOfNetworkColor(source.theme);
  return scaleColor(amountOf(source.item, source.time), source.largest, source.theme,
                    [](double ms) { return msText(ms); });
}

}  // namespace

extern const ColorMode kTimeColors{"time", "Time", LegendOf::Times, colorOf, amountOf};

}  // namespace fusescope
