#pragma once

#include <QLabel>
#include <QLineEdit>
#include <QTableView>
#include <QWidget>

#include "ui/docks/dock_context.h"
#include "ui/models/layers_model.h"

namespace fusescope {

/// The table of nodes, bodies' included: filter, sort, pin in place, totals, CSV.
class LayersDock : public QWidget {
  Q_OBJECT

 public:
  explicit LayersDock(const DockContext& context, QWidget* parent = nullptr);
  LayersModel& model() { return m_model; }
  QTableView& view() { return *m_view; }
  QLineEdit& filterBox() { return *m_filter; }
  /// Pins the selected rows, or `row` alone if it is not among them, as one undo step.
  void applyPin(int row, const PinChoice& choice);
  QString totals() const { return m_totals->text(); }
  bool exportCsv(const QString& path);

 signals:
  void menuRequested(const QPoint& globalPosition);
  void patternPinRequested(const QString& pattern);
  void csvRequested();

 private:
  void refresh();
  void refreshTimes();
  void refreshTotals();
  void applyFilter();
  void showSelection(const QObject* source);
  void readSelection();

  DockContext m_context;
  LayersModel m_model;
  QLineEdit* m_filter;
  QLabel* m_explanation;
  QTableView* m_view;
  QLabel* m_totals;
  bool m_syncing = false;
};

}  // namespace fusescope
