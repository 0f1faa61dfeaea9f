#include "ui/ribbon/ribbon_painter.h"

#include <algorithm>
#include <cmath>

#include "ui/document/qt_text.h"
#include "ui/ribbon/ribbon_words.h"

namespace fusescope {

namespace {

constexpr double kLeastLabelled = 26;  // the least width in pixels of a bar that gets a word
constexpr double kGap = 1;             // pixels between bars that are wide enough
constexpr double kPale = 0.62;         // the share of the ground in the colour of a bar whose time was not measured
constexpr double kGrey = 0.72;         // the share of grey in the colour of a bar whose numbers belong to another plan

QFont ribbonFont(int pixels, QFont::Weight weight = QFont::Normal) {
  QFont font = uiFont(9, weight);
  font.setPixelSize(pixels);
  return font;
}

bool isHatched(TimeKind kind) {
  return kind == TimeKind::Predicted || kind == TimeKind::Fitted || kind == TimeKind::Reported ||
         kind == TimeKind::Unknown || kind == TimeKind::Emulated;
}

}  // namespace

RibbonPainter::RibbonPainter(QPainter& painter, const RibbonPicture& picture, const RibbonLook& look,
                             const RibbonScale& scale, std::vector<RibbonBand> bands)
    : m_painter(painter),
      m_picture(picture),
      m_look(look),
      m_theme(*look.theme),
      m_scale(scale),
      m_bands(std::move(bands)),
      m_text(ribbonFont(ribbon::kTextPixels)),
      m_label(ribbonFont(ribbon::kLabelPixels)) {}

void RibbonPainter::paint() {
  for (const RibbonBand& band : m_bands) {
    switch (band.kind) {
      case RibbonBand::Kind::Progress:
        progress(band);
        break;
      case RibbonBand::Kind::Above:
        rowAbove(band);
        break;
      case RibbonBand::Kind::Lane:
        lane(band);
        break;
      case RibbonBand::Kind::Errors:
        errors(band);
        break;
      case RibbonBand::Kind::Differences:
        differences(band);
        break;
      case RibbonBand::Kind::Deltas:
        deltas(band);
        break;
      case RibbonBand::Kind::InView:
        inView(band);
        break;
    }
  }
  for (const RibbonBand& band : m_bands)
    if (band.kind == RibbonBand::Kind::Lane || band.kind == RibbonBand::Kind::Above) marks(band);
  brush();
}

QRectF RibbonPainter::rectOf(const RibbonBand& band, double begin, double end) const {
  const double left = std::max(m_scale.toX(begin), band.rect.left());
  const double right = std::min(m_scale.toX(end), band.rect.right());
  return {left, band.rect.top(), std::max(right - left, 1.0), band.rect.height()};
}

void RibbonPainter::label(const QRectF& rect, const QStringList& labels, const QColor& color) {
  if (rect.width() < kLeastLabelled) return;
  const QFontMetricsF metrics(m_painter.font());
  for (const QString& text : labels) {
    if (metrics.horizontalAdvance(text) > rect.width() - 6) continue;
    m_painter.setPen(color);
    m_painter.drawText(rect.adjusted(3, 0, -3, 0), Qt::AlignVCenter | Qt::AlignLeft, text);
    return;
  }
}

const RibbonRow* RibbonPainter::innermost() const {
  const RibbonRow* row = nullptr;
  for (const RibbonBand& band : m_bands)
    if (band.kind == RibbonBand::Kind::Above) row = &m_picture.layout.above[band.of];
  return row;
}

void RibbonPainter::progress(const RibbonBand& band) {
  for (const RibbonRange& part : m_look.progress.tried)
    if (part.to > m_scale.range.from && part.from < m_scale.range.to)
      m_painter.fillRect(rectOf(band, part.from, part.to), m_theme.text);
  if (!m_look.progress.reached) return;
  QRectF done = rectOf(band, m_scale.range.from, *m_look.progress.reached).adjusted(0, 1, 0, -1);
  if (*m_look.progress.reached <= m_scale.range.from) return;
  m_painter.fillRect(done, m_theme.dimText);
  m_painter.fillRect(rectOf(band, m_look.progress.begin, *m_look.progress.reached).adjusted(0, 0, 0, 0), m_theme.text);
}

void RibbonPainter::rowAbove(const RibbonBand& band) {
  const RibbonRow& row = m_picture.layout.above[band.of];
  m_painter.setFont(m_text);
  const QFontMetricsF metrics(m_text);
  for (const BarStretch& stretch :
       row.stretches(m_scale.range.from, m_scale.range.to, m_scale.pixels(ribbon::kLeastSeen), nullptr)) {
    const QRectF rect = rectOf(band, stretch.begin, stretch.end).adjusted(0, 0, stretch.isSingle ? -kGap : 0, -kGap);
    const RibbonBar& bar = row.bars()[stretch.first];
    QColor ground = mixed(m_theme.canvas, m_theme.dimText, stretch.first % 2 == 0 ? 0.16 : 0.24);
    if (row.kind() == RibbonRow::Kind::Segments && stretch.isSingle) {
      const Segment& segment = m_picture.shown().snapshot->cover->segments[static_cast<std::size_t>(bar.what)];
      const bool isFallback = segment.kind == SegmentKind::Fallback;
      ground = mixed(m_theme.canvas, segmentColor(bar.what, isFallback, m_theme), 0.30);
      m_painter.fillRect(rect, ground);
      if (isFallback) m_painter.fillRect(rect, QBrush(m_theme.warning, Qt::Dense6Pattern));
    } else {
      m_painter.fillRect(rect, ground);
    }
    if (!stretch.isSingle || rect.width() < kLeastLabelled) continue;
    const QString text = metrics.elidedText(rowLabel(m_picture, row, bar), Qt::ElideMiddle, rect.width() - 6);
    if (text.size() > 2) label(rect, {text}, m_theme.text);
  }
}

QColor RibbonPainter::fillOf(std::size_t l, std::size_t kernel) const {
  const bool isKnown = l < m_look.colors.size() && kernel < m_look.colors[l].size();
  const QColor color = isKnown ? QColor(m_look.colors[l][kernel]) : m_theme.disabledText;
  return m_picture.lanes[l].ofOtherPlan ? mixed(color, mixed(m_theme.canvas, m_theme.dimText, 0.4), kGrey) : color;
}

void RibbonPainter::lane(const RibbonBand& band) {
  const RibbonRow& row = m_picture.layout.lanes[band.of];
  m_painter.setFont(m_label);
  for (const BarStretch& stretch :
       row.stretches(m_scale.range.from, m_scale.range.to, m_scale.pixels(ribbon::kLeastSeen), innermost())) {
    if (stretch.isSingle) {
      kernel(band, row.bars()[stretch.first]);
    } else {
      gathered(band, stretch);
    }
  }
}

void RibbonPainter::kernel(const RibbonBand& band, const RibbonBar& bar) {
  const RibbonLane& lane = m_picture.lanes[band.of];
  const auto place = static_cast<std::size_t>(bar.what);
  const QRectF rect = rectOf(band, bar.begin, bar.end).adjusted(0, 0, -kGap, -kGap);
  const QColor color = fillOf(band.of, place);
  const TimeKind kind = lane.times[place].kind;
  QColor ground = color;
  if (isHatched(kind)) {
    ground = mixed(color, m_theme.canvas, kPale);
    m_painter.fillRect(rect, ground);
    const bool isUnknown = kind == TimeKind::Unknown || kind == TimeKind::Emulated;
    const Qt::BrushStyle hatch = isUnknown                    ? Qt::DiagCrossPattern
                                 : kind == TimeKind::Reported ? Qt::FDiagPattern
                                                              : Qt::BDiagPattern;
    if (!isUnknown || m_picture.basis == WidthBasis::Time || lane.snapshot->made() != nullptr)
      m_painter.fillRect(rect, QBrush(mixed(ground, color, 0.6), hatch));
  } else {
    m_painter.fillRect(rect, ground);
  }
  if (lane.items[place].fallback)
    m_painter.fillRect(QRectF(rect.left(), rect.bottom() - 3, rect.width(), 3),
                       QBrush(m_theme.warning, Qt::Dense4Pattern));
  if (rect.width() >= kLeastLabelled)
    label(rect, barLabels(lane, static_cast<std::uint32_t>(bar.what)), readableOn(ground));
}

/// Each column of pixels gets the colour of the kernel in its middle.
void RibbonPainter::gathered(const RibbonBand& band, const BarStretch& stretch) {
  const RibbonRow& row = m_picture.layout.lanes[band.of];
  const QRectF rect = rectOf(band, stretch.begin, stretch.end).adjusted(0, 0, 0, -kGap);
  const auto colorAt = [&](double x) {
    const std::size_t bar = std::min(row.firstBehind(m_scale.toPlace(x)), row.bars().size() - 1);
    const auto kernel = static_cast<std::size_t>(row.bars()[bar].what);
    const bool isPale = isHatched(m_picture.lanes[band.of].times[kernel].kind);
    return mixed(fillOf(band.of, kernel), m_theme.canvas, isPale ? kPale : 0.2);
  };
  double begin = rect.left();
  QColor color = colorAt(begin + 0.5);
  for (double x = begin + 1; x < rect.right(); x += 1) {
    const QColor next = colorAt(x + 0.5);
    if (next == color) continue;
    m_painter.fillRect(QRectF(begin, rect.top(), x - begin, rect.height()), color);
    begin = x;
    color = next;
  }
  m_painter.fillRect(QRectF(begin, rect.top(), rect.right() - begin, rect.height()), color);
  if (stretch.last - stretch.first < 2) return;
  const QString text = gatheredLabel(m_picture, band.of, stretch.first, stretch.last);
  const double width = QFontMetricsF(m_text).horizontalAdvance(text);
  if (width + 12 > rect.width()) return;
  const QRectF chip(rect.left() + 3, rect.center().y() - 7, width + 6, 14);
  m_painter.fillRect(chip, mixed(m_theme.canvas, color, 0.08));
  m_painter.setFont(m_text);
  label(chip, {text}, m_theme.text);
  m_painter.setFont(m_label);
}

void RibbonPainter::errors(const RibbonBand& band) {
  const RibbonLane& lane = m_picture.lanes[band.of];
  const RibbonRow& row = m_picture.layout.lanes[band.of];
  const auto levelAt = [&](std::uint32_t bar) { return lane.levels[static_cast<std::size_t>(row.bars()[bar].what)]; };
  const auto paint = [&](double begin, double end, ErrorLevel level) {
    QRectF rect = rectOf(band, begin, end).adjusted(0, 0, 0, -kGap);
    if (!isWrong(level)) rect.setTop(rect.top() + 2);  // wrong results also have a higher mark
    if (level != ErrorLevel::Unknown) m_painter.fillRect(rect, levelColor(level, m_theme));
  };
  for (const BarStretch& stretch : row.stretches(m_scale.range.from, m_scale.range.to, m_scale.pixels(1), nullptr)) {
    ErrorLevel worst = levelAt(stretch.first);  // of the kernels in one pixel, the worst is shown
    double begin = stretch.begin;
    for (std::uint32_t bar = stretch.first + 1; bar < stretch.last; ++bar) {
      if (row.bars()[bar].begin - begin < m_scale.pixels(1)) {
        worst = std::max(worst, levelAt(bar));
        continue;
      }
      paint(begin, row.bars()[bar].begin, worst);
      begin = row.bars()[bar].begin;
      worst = levelAt(bar);
    }
    paint(begin, stretch.end, worst);
  }
}

void RibbonPainter::bracket(const RibbonBand& band, const QRectF& mark) {
  m_painter.setPen(QPen(m_theme.warning, 1.5));
  const double top = band.rect.top() + 1, bottom = band.rect.bottom() - 2, middle = (top + bottom) / 2;
  const double left = mark.left() + 1, right = std::max(mark.right() - 1, left + 2);
  m_painter.drawLine(QPointF(left, top), QPointF(left, bottom));
  m_painter.drawLine(QPointF(right, top), QPointF(right, bottom));
  m_painter.drawLine(QPointF(left, middle), QPointF(right, middle));
}

void RibbonPainter::differences(const RibbonBand& band) {
  const auto& differences = m_picture.differences[band.of];
  const auto& begins = m_picture.layout.groupBegin;
  m_painter.fillRect(band.rect, mixed(m_theme.canvas, m_theme.dimText, 0.06));
  auto g = static_cast<std::size_t>(std::ranges::upper_bound(begins, m_scale.range.from) - begins.begin());
  g = g == 0 ? 0 : g - 1;
  double drawnTo = -1;  // in pixels; marks that would be in the same pixel are drawn once
  for (; g < differences.size() && begins[g] < m_scale.range.to; ++g) {
    if (!differences[g].fusion && !differences[g].types) continue;
    const QRectF mark = rectOf(band, begins[g], begins[g + 1]);
    if (mark.right() <= drawnTo) continue;
    drawnTo = std::max(mark.right(), mark.left() + 2);
    if (differences[g].fusion) {
      bracket(band, mark);
    } else {
      m_painter.fillRect(mark.adjusted(0.5, 3, -0.5, -3), m_theme.match);
    }
  }
}

void RibbonPainter::deltas(const RibbonBand& band) {
  const auto& differences = m_picture.differences[band.of];
  const auto& begins = m_picture.layout.groupBegin;
  const double middle = band.rect.center().y();
  m_painter.setFont(m_text);
  m_painter.fillRect(QRectF(band.rect.left(), middle, band.rect.width(), 1), m_theme.border);
  auto g = static_cast<std::size_t>(std::ranges::upper_bound(begins, m_scale.range.from) - begins.begin());
  g = g == 0 ? 0 : g - 1;
  for (; g < differences.size() && begins[g] < m_scale.range.to;) {
    // For kernels in one pixel, the sum is shown.
    const std::size_t first = g;
    double sum = 0;
    do {
      sum += differences[g].deltaMs.value_or(0);
      ++g;
    } while (g < differences.size() && begins[g + 1] - begins[first] < m_scale.pixels(2));
    if (sum == 0 || m_picture.mostDelta <= 0) continue;
    const double share = std::min(std::sqrt(std::abs(sum) / m_picture.mostDelta), 1.0);
    const double height = std::max(1.0, share * (band.rect.height() / 2 - 1));
    QRectF bar = rectOf(band, begins[first], begins[g]).adjusted(0, 0, -0.5, 0);
    const bool isSlower = sum > 0;
    const QColor color = isSlower ? m_theme.error : m_theme.success;
    bar.setTop(isSlower ? middle - height : middle + 1);
    bar.setHeight(height);
    m_painter.fillRect(bar, color);
    // The word is on the other side of the line, which is free.
    QRectF word = bar;
    word.setTop(band.rect.top());
    word.setBottom(band.rect.bottom());
    if (share > 0.3 && word.width() > 52) {
      const QString text = signedMsText(sum);
      const QRectF ground(word.left(), word.top(), QFontMetricsF(m_text).horizontalAdvance(text) + 6, word.height());
      m_painter.fillRect(ground, m_theme.canvas);
      label(word, {text}, m_theme.text);
      m_painter.fillRect(QRectF(word.left(), word.top() + 1, 2, word.height() - 2), color);
    }
  }
}

void RibbonPainter::inView(const RibbonBand& band) {
  for (const RibbonRange& part : m_look.inView) {
    if (part.to <= m_scale.range.from || part.from >= m_scale.range.to) continue;
    m_painter.fillRect(rectOf(band, part.from, part.to).adjusted(0, 2, 0, -1), m_theme.dimText);
  }
}

void RibbonPainter::frame(const RibbonBand& band, const RibbonBar& bar, const QColor& color) {
  if (bar.end <= m_scale.range.from || bar.begin >= m_scale.range.to) return;
  QRectF rect = rectOf(band, bar.begin, bar.end).adjusted(0, 0, -kGap, -kGap);
  if (rect.width() < 4) rect.setWidth(4);
  m_painter.setBrush(Qt::NoBrush);
  if (rect.width() > 8) {  // separates it from a bar of nearly the same colour
    m_painter.setPen(QPen(m_theme.canvas, 1));
    m_painter.drawRect(rect.adjusted(2.5, 2.5, -2.5, -2.5));
  }
  m_painter.setPen(QPen(color, 2));
  m_painter.drawRect(rect.adjusted(1, 1, -1, -1));
}

void RibbonPainter::marks(const RibbonBand& band) {
  const bool above = band.kind == RibbonBand::Kind::Above;
  const RibbonRow& row = above ? m_picture.layout.above[band.of] : m_picture.layout.lanes[band.of];
  const auto isHere = [&](const std::optional<RibbonSpot>& spot) {
    return spot && spot->above == above && spot->row == band.of && spot->bar < row.bars().size();
  };
  if (isHere(m_look.hovered)) frame(band, row.bars()[m_look.hovered->bar], mixed(m_theme.border, m_theme.text, 0.6));
  if (!above && band.of < m_look.selected.size()) {
    double drawnTo = -1;
    for (const std::uint32_t bar : m_look.selected[band.of]) {
      const double x = m_scale.toX(row.bars()[bar].end);
      if (x < drawnTo + 1) continue;
      frame(band, row.bars()[bar], m_theme.accent);
      drawnTo = x;
    }
  }
  if (!above && band.of + 1 == m_picture.lanes.size() && m_look.failing) {
    const RibbonBar& bar = row.bars()[*m_look.failing];
    frame(band, bar, m_theme.error);
    const QRectF rect = rectOf(band, bar.begin, bar.end);
    const double x = rect.center().x();
    m_painter.setRenderHint(QPainter::Antialiasing);
    m_painter.setPen(QPen(m_theme.canvas, 1));
    m_painter.setBrush(m_theme.error);
    const QPointF points[] = {{x - 7, band.rect.top() - 3}, {x + 7, band.rect.top() - 3}, {x, band.rect.top() + 8}};
    m_painter.drawPolygon(points, 3);
    m_painter.setRenderHint(QPainter::Antialiasing, false);
  }
  if (m_look.focus && isHere(m_look.current)) {
    frame(band, row.bars()[m_look.current->bar], m_theme.text);
  }
}

void RibbonPainter::brush() {
  if (m_look.brush.width() <= 0 || m_bands.empty()) return;
  const double left = m_scale.toX(m_look.brush.from), right = m_scale.toX(m_look.brush.to);
  QColor veil = m_theme.text;
  veil.setAlphaF(0.16);
  const QRectF rect(left, m_bands.front().rect.top(), right - left,
                    m_bands.back().rect.bottom() - m_bands.front().rect.top());
  m_painter.fillRect(rect, veil);
  m_painter.setPen(QPen(m_theme.text, 1));
  m_painter.setBrush(Qt::NoBrush);
  m_painter.drawRect(rect);
}

}  // namespace fusescope
