#include "ui/docks/trade_off_dock.h"

#include <QHBoxLayout>
#include <QVBoxLayout>
#include <algorithm>

#include "ui/document/qt_text.h"

namespace fusescope {

TradeOffDock::TradeOffDock(const DockContext& context)
    : Dock(context), m_groups(new QComboBox), m_plot(new ErrorPlot(context.theme)), m_view(new QTableView) {
  m_groups->setAccessibleName(QStringLiteral("Runs that were made in the same way"));
  m_groups->setToolTip(QStringLiteral(
      "Runs of other compilers, threads, inputs, extents or machines are not compared: each group has its own plot."));
  m_groups->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
  m_groups->setMinimumWidth(240);
  m_plot->setAccessibleName(QStringLiteral("Error against latency"));
  m_model.setContent(tradeOffContent({}, {}));
  m_view->setModel(&m_model);
  m_view->setItemDelegate(new CellDelegate(context.theme, {}, m_view));
  m_view->setSelectionMode(QAbstractItemView::SingleSelection);
  m_view->setAccessibleName(QStringLiteral("Runs with time and error"));
  styleTable(*m_view, {0, 80, 72, 48, -150}, false);
  auto* page = new QWidget;
  auto* row = new QHBoxLayout(page);
  row->setContentsMargins(8, 0, 0, 4);
  row->setSpacing(8);
  row->addWidget(m_plot, 2);
  row->addWidget(m_view, 3);
  m_stack =
      new HintStack(page, QStringLiteral("Build plans and evaluate them: each appears here with its time and error."));
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(0);
  layout->addWidget(toolRow({m_groups}, this, 0));
  layout->addWidget(m_stack, 1);
  connect(&context.runs, &Runs::runsChanged, this, &TradeOffDock::refreshAll);
  connect(&context.runs, &Runs::shownChanged, this, &TradeOffDock::refreshAll);
  connect(&context.runs, &Runs::settingsChanged, this, &TradeOffDock::refreshAll);
  connect(&context.runs, &Runs::runChanged, this, [this](const QString& id) {
    const Run* run = m_context.runs.find(id.toStdString());
    if (run != nullptr && !run->working()) refreshAll();
  });
  connect(m_groups, qOverload<int>(&QComboBox::activated), this, &TradeOffDock::showGroup);
  connect(m_plot, &ErrorPlot::chosen, this,
          [this](int point) { m_context.runs.show(m_plotted[static_cast<std::size_t>(point)]); });
  connect(m_view, &QTableView::activated, this,
          [this](const QModelIndex& index) { m_context.runs.show(index.data(kNameRole).toString().toStdString()); });
  connect(m_view, &QTableView::clicked, this,
          [this](const QModelIndex& index) { m_context.runs.show(index.data(kNameRole).toString().toStdString()); });
}

/// Shows the group of the displayed run, otherwise the group that was chosen, otherwise the first one.
void TradeOffDock::renew(Parts parts) {
  if (parts == kTheme) return m_plot->update();
  const QString before = m_groups->currentText();
  const Run* shown = m_context.runs.shown();
  m_known = tradeOffGroups(m_context.runs);
  m_groups->clear();
  int chosen = -1, ofShown = -1;
  for (std::size_t i = 0; i < m_known.size(); ++i) {
    const TradeOffGroup& group = m_known[i];
    const auto places = std::ranges::count_if(group.runs, &TradeOffRun::hasPlace);
    m_groups->addItem(QStringLiteral("%1: %2 of %3 plotted")
                          .arg(group.words)
                          .arg(places)
                          .arg(plural(static_cast<std::int64_t>(group.runs.size()), QStringLiteral("run"))));
    if (m_groups->itemText(static_cast<int>(i)) == before) chosen = static_cast<int>(i);
    if (shown != nullptr && std::ranges::find(group.runs, shown->id, &TradeOffRun::id) != group.runs.end())
      ofShown = static_cast<int>(i);
  }
  m_groups->setCurrentIndex(ofShown >= 0 ? ofShown : chosen >= 0 ? chosen : m_known.empty() ? -1 : 0);
  m_groups->setEnabled(m_known.size() > 1);
  showGroup();
}

const TradeOffGroup* TradeOffDock::group() const {
  const int index = m_groups->currentIndex();
  return index < 0 ? nullptr : &m_known[static_cast<std::size_t>(index)];
}

void TradeOffDock::showGroup() {
  const TradeOffGroup* shown = group();
  m_stack->showContent(shown != nullptr);
  m_plotted.clear();
  ErrorPlotContent content{.allowed = m_context.runs.settings().tolerance.rms,
                           .title = QStringLiteral("error (max|Δ| of rms) against measured time"),
                           .none = QStringLiteral("No run of these has both a time and an error"),
                           .hint = QStringLiteral("None of these runs has both a time and an error: evaluate them.")};
  const Run* onScreen = m_context.runs.shown();
  int current = -1;
  if (shown != nullptr) {
    for (const TradeOffRun& run : shown->runs) {
      if (!run.hasPlace()) continue;
      if (onScreen != nullptr && onScreen->id == run.id) current = static_cast<int>(m_plotted.size());
      m_plotted.push_back(run.id);
      content.points.push_back(
          {.across = *run.ms, .error = *run.error, .words = run.words(), .spread = std::pair(run.minMs, run.p95Ms)});
    }
  }
  std::vector<std::string> front;
  for (const int point : frontOf(content.points)) front.push_back(m_plotted[static_cast<std::size_t>(point)]);
  m_plot->setContent(std::move(content));
  m_plot->setCurrent(current);
  m_model.setContent(tradeOffContent(shown == nullptr ? TradeOffGroup() : *shown, front));
  for (int row = 0; row < m_model.rowCount(); ++row)
    if (onScreen != nullptr && m_model.index(row, 0).data(kNameRole).toString() == qs(onScreen->id))
      m_view->selectRow(row);
}

extern const DockForm kTradeOffDock{"Trade-off", "Alt+9", Qt::BottomDockWidgetArea,
                                    [](const DockContext& context) -> Dock* { return new TradeOffDock(context); }};

}  // namespace fusescope
