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

/// Draws tones as colours, kBarRole as a bar below the text, and precisions as badges in the given columns.
class CellDelegate : public QStyledItemDelegate {
  Q_OBJECT

 public:
  CellDelegate(std::function<const Theme&()> theme, QSet<int> typeColumns, QObject* parent);
  void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override;
  QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override;
  /// What of a cell's text is drawn in option.rect, where it has a kTwinRole.
  QString shownText(const QStyleOptionViewItem& option, const QModelIndex& index) const;

 protected:
  void initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const override;

 private:
  void paintBadge(QPainter* painter, const QStyleOptionViewItem& option, const QString& text) const;
  std::function<const Theme&()> m_theme;
  QSet<int> m_typeColumns;
};

/// Rows selected whole, dense, no grid, sortable if asked, columns of the given widths. Columns of width 0 share what
/// the others leave, but never become too narrow to tell names apart: the table is scrolled then. One of width -W has W
/// and a third of the share of such a column.
void styleTable(QTableView& table, const QList<int>& widths, bool sortable);

/// Texts that are longer than their column go on below, as long as there are not too many rows; after styleTable().
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

/// Enables the widget unless `refusal` says why it is of no use now. Its tool tip is then the refusal, else `tip`.
void offer(QWidget& widget, const QString& refusal, const QString& tip);
/// The same for one that keeps its own tool tip.
void offer(QWidget& widget, const QString& refusal);

/// Widgets above a table, side by side or, where that is too wide, below each other; the one at `stretch` takes what is
/// left of its row.
QWidget* toolRow(const QList<QWidget*>& widgets, QWidget* parent, int stretch = -1);

}  // namespace fusescope
