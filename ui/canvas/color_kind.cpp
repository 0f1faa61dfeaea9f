#include "ui/canvas/color_mode.h"

namespace fusescope {

namespace kind_color {
namespace {

BoxColor colorOf(const ColorSource& source) {
  if (isBorderOfNetwork(source.item)) return borderOfNetworkColor(source.theme);
  Swatch swatch = kindSwatch(source.item.kindName.toStdString(), source.theme);
  swatch.label.clear();
  return {swatch.color, QString(), swatch};
}

}  // namespace
}  // namespace kind_color

extern const ColorMode kKindColors{"kind", "Kind", LegendOf::Colors, kind_color::colorOf};

}  // namespace fusescope
