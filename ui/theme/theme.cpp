#include "ui/theme/theme.h"

namespace fusescope {

const Theme& Theme::dark() {
  static const Theme theme = {
      .kind = ThemeKind::Dark,
      .window = QColor("#1b1e24"),
      .base = QColor("#15181d"),
      .raised = QColor("#262b33"),
      .canvas = QColor("#13161a"),
      .canvasDots = QColor("#22272e"),
      .box = QColor("#23282f"),
      .container = QColor("#191d22"),
      .border = QColor("#363d48"),
      .text = QColor("#e4e8ee"),
      .dimText = QColor("#a8b1bd"),
      .disabledText = QColor("#68717f"),
      .edge = QColor("#7b8798"),
      .accent = QColor("#5aa9ff"),
      .onAccent = QColor("#08131f"),
      .link = QColor("#5cc8bd"),
      .chart = QColor("#93a0b2"),
      .match = QColor("#f2cc60"),
      .success = QColor("#4cc38a"),
      .warning = QColor("#f0b34a"),
      .error = QColor("#ff8a82"),
  };
  return theme;
}

const Theme& Theme::light() {
  static const Theme theme = {
      .kind = ThemeKind::Light,
      .window = QColor("#f3f5f8"),
      .base = QColor("#ffffff"),
      .raised = QColor("#ffffff"),
      .canvas = QColor("#f8f9fb"),
      .canvasDots = QColor("#e4e8ee"),
      .box = QColor("#ffffff"),
      .container = QColor("#eff2f6"),
      .border = QColor("#cfd6df"),
      .text = QColor("#1c2128"),
      .dimText = QColor("#566070"),
      .disabledText = QColor("#98a2b0"),
      .edge = QColor("#6f7b8c"),
      .accent = QColor("#0a5fca"),
      .onAccent = QColor("#ffffff"),
      .link = QColor("#006b66"),
      .chart = QColor("#5f6c7e"),
      .match = QColor("#b57f00"),
      .success = QColor("#14703f"),
      .warning = QColor("#855800"),
      .error = QColor("#bd1e2a"),
  };
  return theme;
}

QFont uiFont(double pointSize, QFont::Weight weight) {
  QFont font;
  font.setFamilies({"Inter", "Noto Sans", "Segoe UI", "Cantarell", "DejaVu Sans"});
  font.setStyleHint(QFont::SansSerif);
  font.setPointSizeF(pointSize);
  font.setWeight(weight);
  return font;
}

QFont monoFont(double pointSize) {
  QFont font;
  font.setFamilies({"JetBrains Mono", "Noto Sans Mono", "DejaVu Sans Mono"});
  font.setStyleHint(QFont::Monospace);
  font.setPointSizeF(pointSize);
  return font;
}

}  // namespace fusescope
