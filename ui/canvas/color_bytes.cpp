#include "ui/canvas/color_mode.h"
#include "ui/document/qt_text.h"

namespace fusescope {

namespace bytes_color {
namespace {

std::optional<double> amountOf(const CanvasItem& item, const ShownTime&) {
  return item.facts.bytes ? std::optional(static_cast<double>(*item.facts.bytes)) : std::nullopt;
}

BoxColor colorOf(const ColorSource& source) {
  if (isBorderOfNetwork(source.item)) return borderOfNetworkColor(source.theme);
  BoxColor color = scaleColor(amountOf(source.item, source.time), source.largest, source.theme,
                              [](double bytes) { return bytesText(static_cast<std::int64_t>(bytes)); });
  if (source.item.facts.bytes) color.badge = bytesText(source.item.facts.bytes);
  return color;
}

}  // namespace
}  // namespace bytes_color

extern const ColorMode kBytesColors{"bytes",
                                    "Bytes moved",
                                    LegendOf::Colors,
                                    bytes_color::colorOf,
                                    bytes_color::amountOf,
                                    "inputs, weights and results of a kernel, according to the plan"};

}  // namespace fusescope
