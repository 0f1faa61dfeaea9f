#pragma once

#include <QLabel>
#include <QPushButton>
#include <QSplitter>
#include <QToolButton>
#include <QTreeView>
#include <QWidget>
#include <memory>

#include "base/json_fwd.h"
#include "ui/canvas/graph_view.h"
#include "ui/compare/difference_model.h"
#include "ui/docks/dock_context.h"
#include "ui/widgets/name_combo_box.h"

class QComboBox;
class QStackedLayout;

namespace fusescope {

/// Shows two plans side by side or one above the other, with the same layout, camera and selection, and a list of the
/// differences. N and Shift+N step through the differences.
class TwoViews : public QWidget {
  Q_OBJECT

 public:
  explicit TwoViews(const DockContext& context, QWidget* parent = nullptr);

  PlanComparison& comparison() { return *m_comparison; }
  GraphView& viewOfA() { return *m_views[0]; }
  GraphView& viewOfB() { return *m_views[1]; }
  QTreeView& list() { return *m_list; }
  DifferenceModel& differences() { return *m_model; }
  /// Returns the summary of the comparison, or the text that is shown in place of the views; for people.
  QString summary() const;

  /// Goes forward or back in the order of the list; the first difference follows the last.
  void goToNext(int by);
  void swap();
  void setAbove(bool above);  ///< true: B is below A; false: beside it
  bool isAbove() const;
  void refreshTheme();
  void setColorMode(const ColorMode& mode);

  /// Returns what a session stores of it: the pair and the arrangement.
  Json state() const;
  void restore(const Json& state);

 signals:
  void closeWanted();

 protected:
  void keyPressEvent(QKeyEvent* event) override;
  void showEvent(QShowEvent* event) override;
  void hideEvent(QHideEvent* event) override;

 private:
  QWidget* makeBar();
  QWidget* makeSide(int side);
  QWidget* makeList();
  void connectViews();
  void renewChoices();
  void renewPair();
  void renewScenes();
  void choose();
  void goTo(const QModelIndex& index);
  void takeSelection(const QStringList& names, const QObject* view);
  void showSelection(const QObject* source);
  QString sideText(const PlanSide& side, const DiffTotals& totals) const;
  QString summaryText() const;
  /// Returns, for each node of the plan on screen, the nodes of the union that represent it; nothing if neither side
  /// belongs to its network.
  std::optional<std::vector<std::vector<NodeId>>> unionOfScreen() const;
  QString fileNodeText() const;

  DockContext m_context;
  PlanComparison* m_comparison;
  GraphView* m_views[2];
  QLabel* m_captions[2];
  NameComboBox *m_a, *m_b;
  QToolButton *m_swap, *m_above, *m_previous, *m_next, *m_close;
  QLabel *m_summary, *m_hint;
  QComboBox* m_order;
  QTreeView* m_list;
  DifferenceModel* m_model;
  QSplitter *m_both, *m_parts;
  QStackedLayout* m_pages;
  std::shared_ptr<const ComparedPair> m_shown;  ///< the pair whose pictures the views show
};

}  // namespace fusescope
