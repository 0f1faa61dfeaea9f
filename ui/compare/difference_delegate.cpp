#include "ui/compare/difference_delegate.h"

#include <QApplication>
#include <QPainter>

#include "ui/compare/difference_model.h"

namespace fusescope {
namespace {

constexpr int kLineGap = 2, kSidePadding = 4, kSignWidth = 16;

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
  const Tone tone = Tone(index.data(kToneRole).toInt());
  painter->setPen(tone == Tone::Bad ? theme.error : tone == Tone::Good ? theme.success : theme.text);
  const QRect first(room.left(), room.top(), room.width(), below.isEmpty() ? room.height() : font.height());
  const int align = index.data(Qt::TextAlignmentRole).toInt();
  painter->drawText(first, align,
                    font.elidedText(index.data(Qt::DisplayRole).toString(), Qt::ElideMiddle, first.width()));
  painter->setPen(theme.dimText);
  const QRect second(room.left(), first.bottom() + kLineGap, room.width(), font.height());
  if (!below.isEmpty())
    painter->drawText(second, Qt::AlignLeft | Qt::AlignVCenter,
                      font.elidedText(below, Qt::ElideMiddle, second.width()));
  painter->restore();
}

QSize DifferenceDelegate::sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const {
  const int line = QFontMetrics(option.font).height();
  const bool isGroup = !index.parent().isValid();
  return {100, isGroup ? 2 * line + 3 * kLineGap : line + 4 * kLineGap};
}

}  // namespace fusescope
