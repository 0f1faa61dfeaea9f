#include "ui/canvas/color_mode.h"

namespace fusescope {

Swatch itemPrecisionSwatch(const CanvasItem& item, const Theme& theme) {
  return item.mixedPrecision ? mixedPrecisionSwatch(theme) : precisionSwatch(item.precision, theme);
}

extern const ColorMode kPrecisionColors{"precision", "Precision", LegendOf::Colors, [](const ColorSource& source) {
                                          const Swatch swatch = itemPrecisionSwatch(source.item, source.theme);
                                          return BoxColor{swatch.color, QString(), swatch};
                                        }};

}  // namespace fusescope
