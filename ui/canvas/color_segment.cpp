#include "ui/canvas/color_mode.h"

namespace fusescope {

Swatch segmentSwatch(const CanvasItem& item, const Theme& theme) {
  if (item.segment < 0) return {theme.dimText, QStringLiteral("-"), QString()};
  const QString number = QString::number(item.segment);
  return {segmentColor(item.segment, item.fallback, theme), number,
          QStringLiteral("segment_") + number + (item.fallback ? QStringLiteral(", fallback") : QString())};
}

namespace segment_color {
namespace {

BoxColor colorOf(const ColorSource& source) {
  const Swatch swatch = segmentSwatch(source.item, source.theme);
  return {swatch.color, swatch.label, source.item.segment < 0 ? std::nullopt : std::optional(swatch)};
}

}  // namespace
}  // namespace segment_color

extern const ColorMode kSegmentColors{"segment", "Segment", LegendOf::Colors, segment_color::colorOf};

}  // namespace fusescope
