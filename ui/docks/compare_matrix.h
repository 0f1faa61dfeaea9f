#pragma once

#include <QCheckBox>
#include <QLabel>
#include <QSortFilterProxyModel>
#include <QTableView>
#include <set>

#include "session/reports/run_matrix.h"
#include "ui/docks/dock.h"
#include "ui/docks/run_source.h"
#include "ui/models/table_model.h"
#include "ui/widgets/common_widgets.h"

namespace fusescope {

/// A page of the Compare dock that shows any number of runs side by side, one group of kernels per row. The two
/// compared runs come first; others are selected by check boxes. A click selects the nodes of a row.
class CompareMatrix : public Dock {
  Q_OBJECT

 public:
  explicit CompareMatrix(const DockContext& context);
  TableModel& model() { return fresh(m_model); }
  QTableView& view() { return fresh(*m_view); }
  QString summary() { return fresh(*m_summary).text(); }
  QCheckBox& blocks() { return *m_blocks; }
  QCheckBox* boxOf(const QString& run);  ///< null: there is no such run to choose

 protected:
  void renew(Parts parts) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  /// The results of the work that is done on another thread.
  struct Made {
    RunMatrix matrix;
    TableContent content;
    QStringList longest;  ///< the longest text of each run
    QString summary;      ///< includes what went wrong
  };
  static std::shared_ptr<Made> makeMatrix(const std::vector<RunSource>& sources, bool blocks);
  std::vector<const Run*> columns() const;
  void renewBoxes();
  void showMade(const std::shared_ptr<Made>& made);
  void fitColumns();
  void select(const QModelIndex& index);

  QWidget* m_boxes;
  QCheckBox* m_blocks;
  QLabel* m_summary;
  TableModel m_model;
  QSortFilterProxyModel m_sorted;
  QTableView* m_view;
  HintStack* m_stack;
  std::set<std::string> m_chosen;  ///< in addition to the two that are compared
  RunMatrix m_matrix;              ///< the matrix that is shown
  QStringList m_longest;           ///< the longest text of each run
};

}  // namespace fusescope
