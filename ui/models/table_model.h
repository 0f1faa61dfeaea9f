#pragma once

#include <QAbstractTableModel>
#include <QStringList>
#include <limits>
#include <optional>
#include <vector>

#include "ui/models/roles.h"

namespace fusescope {

/// The sort key of cells with unknown numbers.
constexpr double kUnknownLast = -std::numeric_limits<double>::max();

struct Cell {
  QString text;
  QVariant sort;  ///< invalid: it is sorted by its text
  QString tip;
  QString twin{};  ///< kTwinRole
  std::optional<double> bar;
  Tone tone = Tone::Plain;
  bool number = false;  ///< aligned right
};

struct TableRow {
  QString name;  ///< kNameRole
  std::vector<Cell> cells;
};

struct TableContent {
  QStringList headers;
  QStringList headerTips;  ///< in the order of headers, or empty
  std::vector<TableRow> rows;
};

/// A table that is a value: its content is computed elsewhere and replaced as a whole. It is used for casts, profiles
/// and comparisons.
class TableModel : public QAbstractTableModel {
  Q_OBJECT

 public:
  using QAbstractTableModel::QAbstractTableModel;
  void setContent(TableContent content);
  const TableContent& content() const { return m_content; }

  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

 private:
  TableContent m_content;
};

}  // namespace fusescope
