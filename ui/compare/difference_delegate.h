#pragma once

#include <QStyledItemDelegate>
#include <functional>

#include "ui/theme/theme.h"

namespace fusescope {

/// Draws a row of a DifferenceModel: its sign in colour and its words, and where and why below them.
class DifferenceDelegate : public QStyledItemDelegate {
  Q_OBJECT

 public:
  DifferenceDelegate(std::function<const Theme&()> theme, QObject* parent);
  void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override;
  QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override;

 private:
  std::function<const Theme&()> m_theme;
};

}  // namespace fusescope
