#include "ui/canvas/color_mode.h"
#include "ui/document/qt_text.h"

namespace fusescope {

namespace time_color {
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
}  // namespace time_color

extern const ColorMode kTimeColors{"time", "Time", LegendOf::Times, time_color::colorOf, time_color::amountOf};

}  // namespace fusescope
