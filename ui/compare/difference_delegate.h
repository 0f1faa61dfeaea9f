#pragma once

#include <QStyledItemDelegate>
#include <functional>

#include "ui/theme/theme.h"

namespace fusescope {

/// Draws a row of a DifferenceModel: its coloured sign and its text, with place and cause below.
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
