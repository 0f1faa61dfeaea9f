#pragma once

#include <QLabel>
#include <QLineEdit>
#include <QTableView>

#include "ui/docks/dock.h"
#include "ui/models/layers_model.h"

namespace fusescope {

/// The table of nodes, including those of bodies, with a filter, sorting, pins, totals and CSV.
class LayersDock : public Dock {
  Q_OBJECT

 public:
  explicit LayersDock(const DockContext& context);
  LayersModel& model() { return fresh(m_model); }
  QTableView& view() { return fresh(*m_view); }
  QLineEdit& filterBox() { return fresh(*m_filter); }
  /// Pins the selected rows, or only `row` if it is not among them, as one undo step.
  void applyPin(int row, const PinChoice& choice);
  QString totals() { return fresh(*m_totals).text(); }
  bool exportCsv(const QString& path);

 protected:
  void renew(Parts parts) override;

 private:
  static constexpr Parts kPlan = 1, kTimes = 2, kSelection = 4;
  void renewPlan();
  void renewTimes();
  void renewTotals();
  void applyFilter();
  void explainFilter(const LayerFilter& filter);
  void showSelection();
  void readSelection();

  LayersModel m_model;
  QLineEdit* m_filter;
  QLabel* m_explanation;
  QTableView* m_view;
  QLabel* m_totals;
  bool m_syncing = false;
};

}  // namespace fusescope
