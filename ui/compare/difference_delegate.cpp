#include "ui/compare/difference_delegate.h"

#include <QApplication>
#include <QPainter>
#include <utility>

#include "ui/compare/difference_model.h"

namespace fusescope {
namespace {

constexpr int kLineGap = 2, kSidePadding = 4, kSignWidth = 16, kCostGap = 8;

QColor signColor(const QString& sign, const Theme& theme) {
  if (sign == QLatin1String("+")) return theme.success;
  return sign == QLatin1String("~") ? theme.warning : theme.error;
}

}  // namespace

DifferenceDelegate::DifferenceDelegate(std::function<const Theme&()> theme, QObject* parent)
    : QStyledItemDelegate(parent), m_theme(std::move(theme)) {}

void DifferenceDelegate::paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const {
  QStyleOptionViewItem frame = option;
  initStyleOption(&frame, index);
  frame.text.clear();
  const QWidget* view = option.widget;
  (view != nullptr ? view->style() : QApplication::style())
      ->drawControl(QStyle::CE_ItemViewItem, &frame, painter, view);
  const Theme& theme = m_theme();
  const QString sign = index.data(DifferenceModel::kSignRole).toString();
  const QString below = index.data(DifferenceModel::kDetailRole).toString();
  QRect room = option.rect.adjusted(kSidePadding, kLineGap, -kSidePadding, -kLineGap);
  const QFontMetrics font(option.font);
  painter->save();
  painter->setFont(option.font);
  if (!sign.isEmpty()) {
    painter->setPen(signColor(sign, theme));
    QFont bold = option.font;
    bold.setBold(true);
    painter->setFont(bold);
    painter->drawText(QRect(room.left(), room.top(), kSignWidth, font.height()), Qt::AlignLeft | Qt::AlignVCenter,
                      sign);
    painter->setFont(option.font);
    room.adjust(kSignWidth, 0, 0, 0);
  }
  // The cost is at the right: the time beside the words, and the error below it.
  const auto cost = [&](int column, int top, const QColor& color) {
    const QString text = index.siblingAtColumn(column).data().toString();
    if (text.isEmpty()) return 0;
    painter->setPen(color);
    painter->drawText(QRect(room.left(), top, room.width(), font.height()), Qt::AlignRight | Qt::AlignVCenter, text);
    return font.horizontalAdvance(text) + kCostGap;
  };
  const auto words = [&](const QString& text, int top, int taken, const QColor& color, Qt::TextElideMode elide) {
    const QRect line(room.left(), top, room.width() - taken, font.height());
    painter->setPen(color);
    painter->drawText(line, Qt::AlignLeft | Qt::AlignVCenter, font.elidedText(text, elide, line.width()));
  };
  const Tone tone = Tone(index.siblingAtColumn(1).data(kToneRole).toInt());
  const QColor toned = tone == Tone::Bad ? theme.error : tone == Tone::Good ? theme.success : theme.text;
  words(index.data(Qt::DisplayRole).toString(), room.top(), cost(1, room.top(), toned), theme.text, Qt::ElideMiddle);
  int top = room.top() + font.height() + kLineGap;
  int taken = cost(2, top, theme.dimText);
  for (const QString& line : below.split(QLatin1Char('\n'))) {
    words(line, top, std::exchange(taken, 0), theme.dimText, Qt::ElideMiddle);
    top += font.height() + kLineGap;
  }
  painter->restore();
}

QSize DifferenceDelegate::sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const {
  const int line = QFontMetrics(option.font).height();
  const bool isGroup = !index.parent().isValid();
  return {100, isGroup ? 3 * line + 5 * kLineGap : 2 * line + 4 * kLineGap};
}

}  // namespace fusescope
