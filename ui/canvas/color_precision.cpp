#include "ui/canvas/color_mode.h"

namespace fusescope {

extern const ColorMode kPrecisionColors{"precision", "Precision", LegendOf::Colors, [](const ColorSource& source) {
                                          const CanvasItem& item = source.item;
                                          const Swatch swatch = precisionSwatch(item.precision, source.theme);
                                          BoxColor color{swatch.color, QString(), swatch};
                                          if (item.facts.second != DataType::Undefined)
                                            color.stripe = precisionSwatch(item.facts.second, source.theme).color;
                                          return color;
                                        }};

}  // namespace fusescope
