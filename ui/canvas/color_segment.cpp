#include "ui/canvas/color_mode.h"

namespace fusescope {

Swatch segmentSwatch(const CanvasItem& item, const Theme& theme) {
  if (item.segment < 0) return {theme.dimText, QStringLiteral("-"), QString()};
  const QString number = QString::number(item.segment);
  return {segmentColor(item.segment, item.fallback, theme), number,
          QStringLiteral("segment_") + number + (item.fallback ? QStringLiteral(", fallback") : QString())};
}

namespace {

BoxColor colorOf(const ColorSource& source) {
  const Swatch swatch = segmentSwatch(source.item, source.theme);
  return {swatch.color, swatch.label, source.item.segment < 0 ? std::nullopt : std::optional(swatch)};
}

}  // namespace

extern const ColorMode kSegmentColors{"segment", "Segment", LegendOf::Colors, colorOf};

}  // namespace fusescope
