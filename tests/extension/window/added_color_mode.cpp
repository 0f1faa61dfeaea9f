#include "ui/canvas/color_mode.h"

namespace fusescope {

namespace {

BoxColor colorOf(const ColorSource& source) {
  const bool one = source.item.nodes <= 1;
  const QColor color = one ? QColor(10, 20, 30) : QColor(40, 50, 60);
  const QString text = one ? QStringLiteral("one node") : QStringLiteral("several nodes");
  return {color, QString::number(source.item.nodes), Swatch{color, QString(), text}};
}

}  // namespace

extern const ColorMode kSizeColors{"size", "Nodes", LegendOf::Colors, colorOf};

}  // namespace fusescope
