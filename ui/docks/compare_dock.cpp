#include "ui/docks/compare_dock.h"

#include <QHBoxLayout>
#include <QHeaderView>
#include <QSortFilterProxyModel>
#include <QVBoxLayout>
#include <cmath>

#include "ui/document/qt_text.h"
#include "ui/models/contents.h"

namespace fusescope {
namespace {

/// "B is 12.0 % faster (11.2 to 12.9 % over 5 turns)"; without colour where the turns do not agree about it.
QString verdict(double ratio, const Range& range, double turns, const Theme& theme) {
  const auto percent = [](double of) { return QString::number(100 * std::abs(of - 1), 'f', 1); };
  const auto change = [&](double of) { return (of > 1 ? QStringLiteral("+") : QStringLiteral("−")) + percent(of); };
  if (!range.tellsApart(1))
    return QStringLiteral("<span style='color:%1'>%2 turns do not tell them apart (B %3 to %4 %)</span>")
        .arg(theme.dimText.name(), QString::number(turns), change(range.least), change(range.most));
  const double nearest = ratio > 1 ? range.least : range.most, farthest = ratio > 1 ? range.most : range.least;
  return QStringLiteral("<span style='color:%1'><b>B is %2 % %3</b></span> (%4 to %5 % over %6 turns)")
      .arg((ratio > 1 ? theme.error : theme.success).name(), percent(ratio),
           ratio > 1 ? QStringLiteral("slower") : QStringLiteral("faster"), percent(nearest), percent(farthest),
           QString::number(turns));
}

}  // namespace

CompareDock::CompareDock(const DockContext& context, QWidget* parent)
    : QWidget(parent),
      m_context(context),
      m_compare(new QPushButton(QStringLiteral("Compare A and B"))),
      m_measure(new QPushButton(QStringLiteral("Error of B against f32"))),
      m_summary(new QLabel),
      m_tabs(new QTabBar),
      m_pages(new QStackedWidget) {
  m_measure->setToolTip(QStringLiteral("Runs B's plan on the reference backend beside the same network in float32"));
  m_summary->setWordWrap(true);
  m_summary->setTextFormat(Qt::RichText);
  auto* row = toolRow({m_compare, m_measure, m_summary}, this);
  static_cast<QHBoxLayout*>(row->layout())->setStretch(2, 1);
  m_tabs->setExpanding(false);
  m_tabs->setDrawBase(false);
  for (const char* tab : {"Time by layer", "Values: B against A", "Values: B against f32"})
    m_tabs->addTab(QString::fromLatin1(tab));
  m_groups.setContent(compareContent(Json()));
  m_errors.setContent(errorsContent(Json()));
  m_pages->addWidget(makeView(m_groups, {0, 0, 100, 100, 120}));
  m_pages->addWidget(makeView(m_errors, {0, 90, 120, 120, 110}));
  m_stack = new HintStack(m_pages, QString());
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(0);
  layout->addWidget(row);
  layout->addWidget(m_tabs);
  layout->addWidget(m_stack, 1);
  auto& builds = context.builds;
  connect(m_compare, &QPushButton::clicked, &builds, &BuildController::compare);
  connect(m_measure, &QPushButton::clicked, this, [this, &builds] {
    m_tabs->setCurrentIndex(2);
    builds.measureErrors(BuildController::kB);
  });
  connect(m_tabs, &QTabBar::currentChanged, this, &CompareDock::refresh);
  connect(&builds, &BuildController::comparisonChanged, this, &CompareDock::refresh);
  connect(&builds, &BuildController::slotChanged, this, &CompareDock::refresh);
  connect(&builds, &BuildController::activityChanged, this, &CompareDock::refresh);
  refresh();
}

QTableView* CompareDock::makeView(TableModel& model, const QList<int>& widths) {
  auto* sorted = new QSortFilterProxyModel(this);
  sorted->setSourceModel(&model);
  sorted->setSortRole(kSortRole);
  auto* view = new QTableView;
  view->setModel(sorted);
  view->setItemDelegate(new CellDelegate(m_context.theme, {}, view));
  view->setSelectionMode(QAbstractItemView::SingleSelection);
  styleTable(*view, widths, true);
  view->horizontalHeader()->setSortIndicator(-1, Qt::DescendingOrder);
  connect(view, &QTableView::clicked, this,
          [this](const QModelIndex& index) { goTo(m_context, index.data(kNameRole).toString(), this); });
  return view;
}

QString CompareDock::summaryText() const {
  const auto& builds = m_context.builds;
  const Theme& theme = m_context.theme();
  if (!builds.comparisonProblem().isEmpty()) {
    return QStringLiteral("<span style='color:%1'>✗ %2</span>")
        .arg(theme.error.name(), builds.comparisonProblem().toHtmlEscaped());
  }
  const Json& comparison = builds.comparison();
  if (!comparison.is_object()) return {};
  const auto a = numberIn(comparison, "a_ms"), b = numberIn(comparison, "b_ms");
  QString text =
      QStringLiteral("<b>%1</b> %2 · <b>%3</b> %4")
          .arg(builds.slotTitle(0).toHtmlEscaped(), msText(a), builds.slotTitle(1).toHtmlEscaped(), msText(b));
  if (const auto ratio = rangeIn(comparison, "ratio_range"); a && b && *a > 0 && ratio) {
    text += QStringLiteral(" · ") + verdict(*b / *a, *ratio, numberIn(comparison, "turns").value_or(0), theme);
  } else {
    const std::string why = textIn(comparison, "time_unavailable");
    text += QStringLiteral(" · <span style='color:%1'>time unknown%2</span>")
                .arg(theme.warning.name(), why.empty() ? QString() : QStringLiteral(": ") + html(why));
  }
  if (comparison.contains("outputs") && !comparison["outputs"].empty()) {
    const TableContent worst = errorsContent(Json{{"outputs", Json::array({comparison["outputs"][0]})}});
    text += QStringLiteral(" · output %1 differs by %2 of its rms")
                .arg(worst.rows[0].cells[0].text.toHtmlEscaped(), worst.rows[0].cells[3].text);
  }
  return text;
}

void CompareDock::refresh() {
  const auto& builds = m_context.builds;
  const Json& comparison = builds.comparison();
  const int tab = m_tabs->currentIndex();
  if (tab == 0)
    m_groups.setContent(compareContent(comparison));
  else
    m_errors.setContent(errorsContent(tab == 1 ? comparison : builds.slot(BuildController::kB).errors));
  m_pages->setCurrentIndex(tab == 0 ? 0 : 1);
  const QString refusal = builds.compareRefusal();
  m_compare->setEnabled(refusal.isEmpty());
  m_compare->setToolTip(refusal);
  m_measure->setEnabled(!builds.busy() && !builds.slot(BuildController::kB).build.is_null());
  m_summary->setText(summaryText());
  const bool both = !builds.slot(0).enginePath.isEmpty() && !builds.slot(1).enginePath.isEmpty();
  m_stack->setHint(
      tab == 2 ? QStringLiteral(
                     "Press “Error of B against f32”: the plan's types are followed exactly, whatever this CPU has.")
      : both ? QStringLiteral("Both engines are built. Press “Compare A and B”.")
             : QStringLiteral("Build both to compare: A before your pins, B with them."));
  m_stack->showContent(tab == 0 ? m_groups.rowCount() > 0 : m_errors.rowCount() > 0);
}

}  // namespace fusescope
