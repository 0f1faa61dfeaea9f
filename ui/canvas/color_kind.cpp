#include "ui/canvas/color_mode.h"

namespace fusescope {

namespace {

BoxColor colorOf(const ColorSource& source) {
  if (isBorderOfNetwork(source.item)) return borderOfNetworkColor(source.theme);
  Swatch swatch = kindSwatch(source.item.kindName.toStdString(), source.theme);
  swatch.label.clear();
  return {swatch.color, QString(), swatch};
}

}  // namespace

extern const ColorMode kKindColors{"kind", "Kind", LegendOf::Colors, colorOf};

}  // namespace fusescope
