#pragma once

#include <QLabel>
#include <QLineEdit>
#include <QTableView>
#include <QWidget>

#include "ui/docks/dock_context.h"
#include "ui/models/layers_model.h"

namespace fusescope {

/// The table of nodes: filter, sort, pin in place, CSV.
class LayersDock : public QWidget {
  Q_OBJECT

 public:
  explicit LayersDock(const DockContext& context, QWidget* parent = nullptr);
  LayersModel& model() { return m_model; }
  QTableView& view() { return *m_view; }
  QLineEdit& filterBox() { return *m_filter; }
  /// Pins the selected rows, or `node` alone if it is not among them, as one undo step.
  void applyPin(NodeId node, const PinChoice& choice);
  bool exportCsv(const QString& path);

 signals:
  void menuRequested(const QPoint& globalPosition);
  void patternPinRequested(const QString& pattern);
  void csvRequested();

 private:
  void refresh();
  void refreshTimes();
  void applyFilter();
  void showSelection(const QObject* source);
  void readSelection();
  std::vector<NodeId> selectedNodes() const;

  DockContext m_context;
  LayersModel m_model;
  QLineEdit* m_filter;
  QLabel* m_explanation;
  QTableView* m_view;
  bool m_syncing = false;
};

}  // namespace fusescope
