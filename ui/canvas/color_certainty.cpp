#include "planning/read_back/read_back_plan.h"
#include "ui/canvas/color_mode.h"
#include "ui/document/qt_text.h"

namespace fusescope {

namespace certainty_color {
namespace {

/// Returns a colour that is the stronger the better the kernel is known.
QColor colorOf(Certainty certainty, const Theme& theme) {
  switch (certainty) {
    case Certainty::Verified:
      return theme.success;
    case Certainty::Named:
      return QColor(QLatin1String(theme.kind == ThemeKind::Dark ? "#bd92cf" : "#65277d"));
    case Certainty::Derived:
      return mixed(theme.dimText, theme.warning, 0.45);
    case Certainty::Guessed:
      return theme.warning;
  }
  return theme.dimText;
}

BoxColor certaintyColor(const ColorSource& source) {
  if (isBorderOfNetwork(source.item)) return borderOfNetworkColor(source.theme);
  if (!source.item.certainty)
    return {source.theme.dimText, QString(),
            Swatch{source.theme.dimText, {}, QStringLiteral("known from our own plan")}, 4};
  const Certainty certainty = *source.item.certainty;
  const QString word = qs(name(certainty));
  const QColor color = colorOf(certainty, source.theme);
  return {color, word, Swatch{color, QString(), word}, static_cast<int>(certainty)};
}

}  // namespace
}  // namespace certainty_color

extern const ColorMode kCertaintyColors{"certainty", "Certainty of a kernel's nodes", LegendOf::Colors,
                                        certainty_color::certaintyColor};

}  // namespace fusescope
