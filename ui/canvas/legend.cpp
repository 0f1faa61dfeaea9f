#include "ui/canvas/legend.h"

#include <QAccessible>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <algorithm>

#include "ui/canvas/canvas_metrics.h"
#include "ui/document/qt_text.h"

namespace fusescope {

namespace {

constexpr int kLegendRow = 24, kNoteRow = 18, kLegendInset = 9, kLegendTitle = 18, kPatch = 14;
constexpr int kMostLines = 12;

constexpr const char* kPredictionNote = "dashed: predicted fusion";
constexpr const char* kDerivedNote = "dashed: derived, its compiler does not name every node";
constexpr const char* kGuessedNote = "dotted: guessed, its compiler does not say which nodes it has";
constexpr const char* kWithoutKernelNote = "hatched: has no kernel of its own";

QFont legendTitleFont() {
  QFont font = detailFont();
  font.setWeight(QFont::DemiBold);
  return font;
}

QString countWords(int boxes) {
  return QString::number(boxes);
}

/// Returns the short name of a line: the label of its colour if it is a word, otherwise its text.
QString shortName(const LegendLine& line) {
  const QString& label = line.swatch.label;
  return label.size() > 1 && label[0].isLetter() ? label : line.swatch.text;
}

}  // namespace

void paintCard(QPainter& painter, const QRect& rect, const Theme& theme) {
  QColor back = theme.window;
  back.setAlphaF(0.93);
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(QPen(theme.border, 1));
  painter.setBrush(back);
  painter.drawRoundedRect(QRectF(rect).adjusted(0.5, 0.5, -0.5, -0.5), 7, 7);
}

LegendWidget::LegendWidget(QWidget* parent) : QWidget(parent), m_theme(Theme::dark()) {
  setFocusPolicy(Qt::StrongFocus);
  setMouseTracking(true);
  setToolTip(
      tr("Click to show only this colour. Ctrl+click to show another one too. Click again, or press Esc, to show "
         "everything."));
}

void LegendWidget::show(const ColorMode& mode, const CanvasColors& colors, const QString& said,
                        const QStringList& only) {
  m_lines = colors.legend();
  m_theme = colors.theme();
  m_title = tr(mode.title);
  m_only = only;
  m_notes = colors.notes;
  if (mode.amountOf != nullptr && colors.largest <= 0) {
    m_lines.clear();
    m_notes.prepend(tr("nothing is known yet"));
  }
  if (int(m_lines.size()) > kMostLines) {
    m_notes.prepend(tr("and %1 more").arg(int(m_lines.size()) - kMostLines));
    m_lines.resize(kMostLines);
  }
  if (colors.anyPrediction) m_notes << tr(kPredictionNote);
  if (colors.anyDerived) m_notes << tr(kDerivedNote);
  if (colors.anyGuessed) m_notes << tr(kGuessedNote);
  if (colors.anyWithoutKernel) m_notes << tr(kWithoutKernelNote);
  if (!said.isEmpty()) m_notes << said;
  m_current = std::clamp(m_current, 0, std::max(0, int(m_lines.size()) - 1));
  m_hovered = -1;

  const QFontMetricsF font(detailFont());
  double chip = kPatch, text = 0;
  for (const LegendLine& line : m_lines) {
    chip = std::max(chip, badgeWidth(line.swatch.label));
    text =
        std::max(text, font.horizontalAdvance(line.swatch.text) + 12 + font.horizontalAdvance(countWords(line.boxes)));
  }
  m_chip = int(std::ceil(chip));
  double width = std::max(QFontMetricsF(legendTitleFont()).horizontalAdvance(m_title), m_chip + 8 + text);
  for (const QString& note : m_notes) width = std::max(width, font.horizontalAdvance(note));
  m_size = QSize(int(std::ceil(width)) + 2 * kLegendInset + 2,
                 kLegendTitle + int(m_lines.size()) * kLegendRow + m_notes.size() * kNoteRow + 2 * kLegendInset - 2);
  setCursor(m_lines.empty() ? Qt::ArrowCursor : Qt::PointingHandCursor);
  setAccessibleName(tr("Legend: colour by %1").arg(m_title.toLower()));
  say();
  resize(m_size);
  update();
}

QString LegendWidget::lineWords(const LegendLine& line) const {
  return line.swatch.text + QStringLiteral(": ") + plural(line.boxes, QStringLiteral("box"), QStringLiteral("boxes"));
}

// Sets the description for screen readers, which begins with the line that has the keyboard focus.
void LegendWidget::say() {
  QStringList spoken;
  if (hasFocus() && m_current < int(m_lines.size())) {
    const LegendLine& line = m_lines[std::size_t(m_current)];
    spoken << (m_only.contains(line.key) ? tr("chosen, %1") : tr("not chosen, %1")).arg(lineWords(line));
  }
  for (const LegendLine& line : m_lines) spoken << lineWords(line);
  spoken << m_notes;
  setAccessibleDescription(spoken.join(QStringLiteral(", ")));
  QAccessibleEvent event(this, QAccessible::DescriptionChanged);
  QAccessible::updateAccessibility(&event);
}

QRect LegendWidget::lineRect(int line) const {
  return QRect(4, kLegendInset + kLegendTitle - 4 + line * kLegendRow, width() - 8, kLegendRow);
}

int LegendWidget::lineAt(const QPoint& point) const {
  for (int line = 0; line < int(m_lines.size()); ++line)
    if (lineRect(line).contains(point)) return line;
  return -1;
}

void LegendWidget::choose(int line, bool add) {
  if (line < 0 || line >= int(m_lines.size())) return;
  const QString& key = m_lines[std::size_t(line)].key;
  QStringList only = add ? m_only : QStringList();
  const bool alone = m_only.size() == 1 && m_only.front() == key;
  if (add && only.contains(key)) {
    only.removeAll(key);
  } else if (add || !alone) {
    only << key;
  }
  emit chosen(only);
}

void LegendWidget::goTo(int line) {
  m_current = std::clamp(line, 0, std::max(0, int(m_lines.size()) - 1));
  say();
  update();
}

void LegendWidget::mousePressEvent(QMouseEvent* event) {
  const int line = lineAt(event->pos());
  if (event->button() != Qt::LeftButton || line < 0) return;
  goTo(line);
  choose(line, event->modifiers() & Qt::ControlModifier);
}

void LegendWidget::mouseMoveEvent(QMouseEvent* event) {
  const int line = lineAt(event->pos());
  if (line == m_hovered) return;
  m_hovered = line;
  update();
}

void LegendWidget::leaveEvent(QEvent*) {
  m_hovered = -1;
  update();
}

void LegendWidget::keyPressEvent(QKeyEvent* event) {
  switch (event->key()) {
    case Qt::Key_Up:
      return goTo(m_current - 1);
    case Qt::Key_Down:
      return goTo(m_current + 1);
    case Qt::Key_Home:
      return goTo(0);
    case Qt::Key_End:
      return goTo(int(m_lines.size()) - 1);
    case Qt::Key_Space:
    case Qt::Key_Return:
    case Qt::Key_Enter:
      return choose(m_current, event->modifiers() & Qt::ControlModifier);
    case Qt::Key_Escape:
      if (m_only.isEmpty()) break;
      return emit chosen({});
    default:
      break;
  }
  QWidget::keyPressEvent(event);
}

void LegendWidget::focusInEvent(QFocusEvent*) {
  goTo(m_current);
}

void LegendWidget::focusOutEvent(QFocusEvent*) {
  goTo(m_current);
}

void LegendWidget::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  paintCard(painter, rect(), m_theme);
  painter.setFont(legendTitleFont());
  painter.setPen(m_theme.dimText);
  painter.drawText(QRect(kLegendInset, kLegendInset - 3, width() - 2 * kLegendInset, kLegendTitle),
                   Qt::AlignLeft | Qt::AlignVCenter, m_title);
  for (int line = 0; line < int(m_lines.size()); ++line) paintLine(painter, line);
  painter.setFont(detailFont());
  painter.setPen(m_theme.dimText);
  int bottom = height() - kLegendInset - m_notes.size() * kNoteRow + 3;
  for (const QString& note : m_notes) {
    painter.drawText(QRect(kLegendInset, bottom, width(), kNoteRow), Qt::AlignLeft | Qt::AlignVCenter, note);
    bottom += kNoteRow;
  }
}

void LegendWidget::paintLine(QPainter& painter, int line) const {
  const LegendLine& of = m_lines[std::size_t(line)];
  const QRect row = lineRect(line);
  const bool isChosen = m_only.contains(of.key), isDimmed = !m_only.isEmpty() && !isChosen;
  const bool hasKeyboard = hasFocus() && line == m_current;
  if (isChosen || line == m_hovered || hasKeyboard) {
    painter.setPen(hasKeyboard ? QPen(m_theme.accent, 1) : QPen(Qt::NoPen));
    painter.setBrush(isChosen            ? QBrush(selectionColor(m_theme))
                     : line == m_hovered ? QBrush(mixed(m_theme.window, m_theme.text, 0.08))
                                         : QBrush(Qt::NoBrush));
    painter.drawRoundedRect(QRectF(row).adjusted(0.5, 1.5, -0.5, -1.5), 4, 4);
  }
  const QColor color = isDimmed ? mixed(of.swatch.color, m_theme.window, 0.6) : of.swatch.color;
  const QRectF patch(kLegendInset, row.center().y() - 6.5, m_chip, 14);
  painter.setPen(Qt::NoPen);
  painter.setBrush(color);
  painter.drawRoundedRect(patch, 4, 4);
  painter.setFont(badgeFont());
  painter.setPen(readableOn(color));
  painter.drawText(patch, Qt::AlignCenter, of.swatch.label);
  painter.setFont(detailFont());
  painter.setPen(isDimmed ? m_theme.dimText : m_theme.text);
  const QRectF words(kLegendInset + m_chip + 8, row.top(), width() - 2 * kLegendInset - m_chip - 8, row.height());
  painter.drawText(words, Qt::AlignLeft | Qt::AlignVCenter, of.swatch.text);
  painter.setPen(m_theme.dimText);
  painter.drawText(words, Qt::AlignRight | Qt::AlignVCenter, countWords(of.boxes));
}

FilterChip::FilterChip(QWidget* parent) : QPushButton(parent) {
  hide();
}

void FilterChip::show(const std::vector<LegendLine>& lines, const QStringList& only) {
  setVisible(!only.isEmpty());
  if (only.isEmpty()) return;
  QStringList names;
  for (const QString& key : only) {
    const auto line = std::ranges::find(lines, key, &LegendLine::key);
    names << (line == lines.end() ? tr("%1 (none here)").arg(key) : shortName(*line));
  }
  const QString what = names.join(tr(" or "));
  setText(tr("only %1  ✕").arg(what));
  setToolTip(tr("Everything else is dimmed. Click to see everything again."));
  setAccessibleName(tr("Only %1 is shown: show everything").arg(what));
  resize(sizeHint().expandedTo(QSize(0, 26)));
}

}  // namespace fusescope
