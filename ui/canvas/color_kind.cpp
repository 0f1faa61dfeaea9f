#include "ui/canvas/color_mode.h"

namespace fusescope {

namespace {

BoxColor colorOf(const ColorSource& source) {
  const CanvasItem& item = source.item;
  const bool border = item.kind == ItemKind::Input || item.kind == ItemKind::Output;
  Swatch swatch = border ? Swatch{source.theme.dimText, QString(), QStringLiteral("input, output")}
                         : kindSwatch(item.kindName.toStdString(), source.theme);
  swatch.label.clear();
  return {swatch.color, QString(), swatch};
}

}  // namespace

extern const ColorMode kKindColors{"kind", "Kind", LegendOf::Colors, colorOf};

}  // namespace fusescope
