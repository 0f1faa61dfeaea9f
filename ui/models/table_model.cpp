#include "ui/models/table_model.h"

#include "ui/document/qt_text.h"

namespace fusescope {

void TableModel::setContent(TableContent content) {
  beginResetModel();
  m_content = std::move(content);
  endResetModel();
}

int TableModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(m_content.rows.size());
}

int TableModel::columnCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : m_content.headers.size();
}

QVariant TableModel::data(const QModelIndex& index, int role) const {
  if (!checkIndex(index, CheckIndexOption::IndexIsValid)) return {};
  const TableRow& row = m_content.rows[static_cast<std::size_t>(index.row())];
  if (role == kNameRole) return row.name;
  const auto column = static_cast<std::size_t>(index.column());
  if (column >= row.cells.size()) return {};
  const Cell& cell = row.cells[column];
  switch (role) {
    case Qt::DisplayRole:
      return cell.text;
    case Qt::ToolTipRole:
      return tipText(cell.tip.isEmpty() ? cell.text : cell.tip);
    case Qt::TextAlignmentRole:
      return static_cast<int>((cell.number ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
    case kTwinRole:
      return cell.twin;
    case kSortRole:
      return cell.sort.isValid() ? cell.sort : QVariant(cell.text);
    case kBarRole:
      return cell.bar ? QVariant(*cell.bar) : QVariant();
    case kToneRole:
      return static_cast<int>(cell.tone);
    default:
      return {};
  }
}

QVariant TableModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal || section < 0 || section >= m_content.headers.size()) return {};
  if (role == Qt::DisplayRole) return m_content.headers[section];
  if (role == Qt::ToolTipRole && section < m_content.headerTips.size()) return tipText(m_content.headerTips[section]);
  if (role == Qt::TextAlignmentRole) {
    const bool number = !m_content.rows.empty() && static_cast<std::size_t>(section) < m_content.rows[0].cells.size() &&
                        m_content.rows[0].cells[static_cast<std::size_t>(section)].number;
    return static_cast<int>((number ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
  }
  return {};
}

}  // namespace fusescope
