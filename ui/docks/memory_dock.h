#pragma once

#include <QLabel>
#include <QTableView>

#include "ui/docks/dock.h"
#include "ui/docks/memory_plot.h"
#include "ui/models/table_model.h"
#include "ui/widgets/common_widgets.h"

namespace fusescope {

/// Shows the contents of the arena of the displayed run's engine: a picture over its steps, and the pieces in memory at
/// one of them. Choosing a step selects what it runs.
class MemoryDock : public Dock {
  Q_OBJECT

 public:
  explicit MemoryDock(const DockContext& context);
  MemoryPlot& plot() { return fresh(*m_plot); }
  TableModel& pieces() { return fresh(m_pieces); }
  QString facts() { return fresh(*m_facts).text(); }
  QString hint();  ///< the text in place of the picture; empty: there is a picture

 protected:
  void renew(Parts parts) override;

 private:
  static constexpr Parts kRun = 1, kSelection = 2;
  void renewRun();
  void renewMarks();
  void choose(int step);
  void showPieces();
  /// Selects what a step runs, or what it converts.
  void select(const MemoryTimeline::Step& step);
  QString factsText(const Run& run) const;
  static QString whyUnknown(const Run* run);

  SharedOptional<MemoryTimeline> m_memory;
  QLabel* m_facts;
  MemoryPlot* m_plot;
  TableModel m_pieces;
  QTableView* m_view;
  HintStack* m_stack;
};

}  // namespace fusescope
