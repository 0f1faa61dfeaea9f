#pragma once

#include <QSet>
#include <QStackedWidget>
#include <QStyledItemDelegate>
#include <QWidget>
#include <functional>

#include "ui/theme/theme.h"

class QAbstractItemView;
class QLabel;
class QTableView;
class QTreeView;

namespace fusescope {

/// Draws cells: tones as colours, kBarRole as a bar below the text, and precisions as badges in the given columns.
class CellDelegate : public QStyledItemDelegate {
  Q_OBJECT

 public:
  CellDelegate(std::function<const Theme&()> theme, QSet<int> typeColumns, QObject* parent);
  void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override;
  QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override;
  /// Returns which part of a cell's text is drawn in option.rect if it has a kTwinRole.
  QString shownText(const QStyleOptionViewItem& option, const QModelIndex& index) const;

 protected:
  void initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const override;

 private:
  void paintBadge(QPainter* painter, const QStyleOptionViewItem& option, const QString& text) const;
  std::function<const Theme&()> m_theme;
  QSet<int> m_typeColumns;
};

/// Styles a table: whole rows are selected, it is dense, has no grid, is sortable if requested, and has columns of the
/// given widths. Columns of width 0 share the remaining width, but stay wide enough to distinguish names; the table is
/// scrolled if necessary. A column of width -W has W and a third of such a share.
void styleTable(QTableView& table, const QList<int>& widths, bool sortable);

/// Wraps texts that are longer than their column, unless there are too many rows. Call it after styleTable().
void wrapRows(QTableView& table);

/// A page with content, or a hint in its place while there is none.
class HintStack : public QStackedWidget {
  Q_OBJECT

 public:
  HintStack(QWidget* content, const QString& hint, QWidget* parent = nullptr);
  void setHint(const QString& hint);
  void showContent(bool content);

 private:
  QLabel* m_hint;
};

/// Enables the widget unless `refusal` says why it is useless now. Its tool tip is `refusal`, or otherwise `tip`.
void offer(QWidget& widget, const QString& refusal, const QString& tip);
/// Does the same for a widget that keeps its own tool tip.
void offer(QWidget& widget, const QString& refusal);

/// Places widgets above a table, side by side or, if that is too wide, in several rows; the widget with index `stretch`
/// takes the rest of its row.
QWidget* toolRow(const QList<QWidget*>& widgets, QWidget* parent, int stretch = -1);

}  // namespace fusescope
