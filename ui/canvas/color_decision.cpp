#include "ui/canvas/color_mode.h"

namespace fusescope {

namespace decision_color {
namespace {

struct DecidedLook {
  const char *dark, *light, *sign, *text;
};

/// Returns the look of each value of Decided.
DecidedLook lookOf(Decided decided) {
  switch (decided) {
    case Decided::Default:
      return {"#8a96a8", "#66717f", "–", "default: nothing was requested"};
    case Decided::Network:
      return {"#c3cbd6", "#3c4450", "net", "the network's author chose it"};
    case Decided::Target:
      return {"#a3c76d", "#4f7a1c", "target", "the target has no other type for it"};
    case Decided::Precision:
      return {"#45b8c4", "#00798a", "asked", "the chosen precision asks for it"};
    case Decided::Prices:
      return {"#3ebf8f", "#208462", "priced", "measured times chose it"};
    case Decided::Neighbour:
      return {"#bd92cf", "#65277d", "apart", "separate from a neighbour of another type"};
    case Decided::Pin:
      return {"#efa412", "#a4680a", "pinned", "a pin is satisfied"};
    case Decided::Fallback:
      return {"#9a7b69", "#665044", "fallback", "falls back to another engine"};
    case Decided::Refused:
      return {"#ff5d73", "#b3123f", "refused", "a pin is refused"};
  }
  return {};
}

BoxColor colorOf(const ColorSource& source) {
  if (isBorderOfNetwork(source.item) || !source.item.facts.decided) return borderOfNetworkColor(source.theme);
  const Decided decided = *source.item.facts.decided;
  const Swatch swatch = decidedSwatch(decided, source.theme);
  return {swatch.color, swatch.label, swatch, -static_cast<int>(decided)};
}

}  // namespace
}  // namespace decision_color

Swatch decidedSwatch(Decided decided, const Theme& theme) {
  const decision_color::DecidedLook look = decision_color::lookOf(decided);
  return {QColor(QLatin1String(theme.kind == ThemeKind::Dark ? look.dark : look.light)), QString::fromUtf8(look.sign),
          QString::fromUtf8(look.text)};
}

extern const ColorMode kDecisionColors{"decision", "Most important decision", LegendOf::Colors,
                                       decision_color::colorOf};

}  // namespace fusescope
