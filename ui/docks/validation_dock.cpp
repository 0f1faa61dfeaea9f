#include "ui/docks/validation_dock.h"

#include <QHeaderView>
#include <QVBoxLayout>

#include "ui/docks/inspector_text.h"
#include "ui/document/qt_text.h"
#include "ui/models/contents.h"

namespace fusescope {

namespace {

constexpr DecisionFilter kFilters[] = {DecisionFilter::Answers, DecisionFilter::New, DecisionFilter::Verdicts,
                                       DecisionFilter::Fusions, DecisionFilter::All};
constexpr const char* kTabNames[] = {"Answers", "Since the last edit", "Verdicts", "Fusions", "All decisions", "Casts"};
constexpr int kCastsTab = 5;

QString few(const std::vector<std::string>& names) {
  QStringList shown;
  for (std::size_t i = 0; i < names.size() && i < 3; ++i) shown << html(names[i]);
  if (names.size() > 3) shown << QStringLiteral("%1 more").arg(names.size() - 3);
  return shown.join(QStringLiteral("; "));
}

QString signedBytes(std::int64_t bytes) {
  return bytes >= 0 ? QStringLiteral("+") + bytesText(bytes) : QStringLiteral("−") + bytesText(-bytes);
}

}  // namespace

QString deltaText(const PlanDelta& delta) {
  if (!delta.comparable) return {};
  if (delta.nothing()) return QStringLiteral("nothing in the plan changed");
  QStringList parts;
  const auto list = [&](const std::vector<std::string>& names, const QString& what) {
    if (!names.empty())
      parts << QStringLiteral("<b>%1 %2</b> (%3)")
                   .arg(plural(static_cast<std::int64_t>(names.size()), what.section(' ', 0, 0)), what.section(' ', 1),
                        few(names));
  };
  list(delta.fusionsLost, QStringLiteral("fusion lost"));
  list(delta.fusionsGained, QStringLiteral("fusion gained"));
  list(delta.castsAdded, QStringLiteral("cast added"));
  list(delta.castsRemoved, QStringLiteral("cast removed"));
  list(delta.retyped, QStringLiteral("node retyped"));
  if (delta.segments != 0)
    parts << QStringLiteral("%1%2 segments").arg(delta.segments > 0 ? "+" : "").arg(delta.segments);
  if (delta.bytes != 0) parts << QStringLiteral("%1 moved").arg(signedBytes(delta.bytes));
  if (delta.castBytes != 0) parts << QStringLiteral("%1 through casts").arg(signedBytes(delta.castBytes));
  if (parts.isEmpty())
    parts << plural(static_cast<std::int64_t>(delta.newAnswers.size()), QStringLiteral("new answer"));
  return parts.join(QStringLiteral(" · "));
}

ValidationDock::ValidationDock(const DockContext& context)
    : Dock(context),
      m_summary(new QLabel),
      m_tabs(new QTabBar),
      m_decisionView(new QTableView),
      m_castView(new QTableView),
      m_pages(new QStackedWidget) {
  m_summary->setWordWrap(true);
  m_summary->setTextFormat(Qt::RichText);
  m_summary->setContentsMargins(10, 6, 10, 2);
  m_tabs->setExpanding(false);
  m_tabs->setDrawBase(false);
  for (const char* tab : kTabNames) m_tabs->addTab(QString::fromLatin1(tab));
  m_decisionView->setModel(&m_decisions);
  m_castView->setModel(&m_casts);
  for (QTableView* view : {m_decisionView, m_castView}) {
    view->setItemDelegate(new CellDelegate(context.theme, view == m_castView ? QSet<int>{1, 2} : QSet<int>{}, view));
    view->setSelectionMode(QAbstractItemView::SingleSelection);
    m_pages->addWidget(view);
    connect(view, &QTableView::clicked, this,
            [this](const QModelIndex& index) { goTo(m_context, index.data(kNameRole).toString(), this); });
    connect(view, &QTableView::activated, this,
            [this](const QModelIndex& index) { goTo(m_context, index.data(kNameRole).toString(), this); });
  }
  m_decisionView->setAccessibleName(QStringLiteral("Verdicts"));
  m_castView->setAccessibleName(QStringLiteral("Casts"));
  styleTable(*m_decisionView, {86, 200, 0, 190}, false);
  m_casts.setContent({{"Value", "From", "To", "Between", "Bytes", "Why"}, {}, {}});
  styleTable(*m_castView, {190, 70, 70, 0, 90, 130}, false);
  m_stack = new HintStack(m_pages, QStringLiteral("Open a model to see its verdicts."));
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(2);
  layout->addWidget(m_summary);
  layout->addWidget(m_tabs);
  layout->addWidget(m_stack, 1);
  connect(m_tabs, &QTabBar::currentChanged, this, &ValidationDock::showTab);
  connect(&context.document, &PlanDocument::planChanged, this, &ValidationDock::refreshAll);
  connect(&context.document, &PlanDocument::planFailed, this, &ValidationDock::refreshAll);
}

QString ValidationDock::summaryText() const {
  const Theme& theme = m_context.theme();
  if (!m_context.document.planProblem().isEmpty()) {
    return QStringLiteral(
               "<span style='color:%1'><b>No plan:</b> %2 What you see is the plan before; undo with Ctrl+Z.</span>")
        .arg(theme.error.name(), m_context.document.planProblem().toHtmlEscaped());
  }
  const auto snapshot = m_context.document.snapshot();
  if (!snapshot) return {};
  const int refused = static_cast<int>(obeyRefusals(*snapshot->plan).size());
  QString text;
  if (refused > 0) {
    text = QStringLiteral("<span style='color:%1'><b>✗ %2 refused.</b></span> ")
               .arg(theme.error.name(), plural(refused, "directive marked obey is", "directives marked obey are"));
  }
  const QString delta = deltaText(snapshot->delta);
  if (!delta.isEmpty()) return text + QStringLiteral("Last edit: ") + delta;
  return text + QStringLiteral("<span style='color:%1'>Pin a node, and what the pin does is said here at once.</span>")
                    .arg(theme.dimText.name());
}

void ValidationDock::retitleTabs() {
  const auto snapshot = m_context.document.snapshot();
  if (!snapshot) return;
  for (int tab = 0; tab < kCastsTab; ++tab) {
    m_tabs->setTabText(tab, QStringLiteral("%1  %2")
                                .arg(QString::fromLatin1(kTabNames[tab]))
                                .arg(DecisionsModel::countOf(*snapshot, kFilters[tab])));
  }
  m_tabs->setTabText(kCastsTab,
                     QStringLiteral("%1  %2").arg(QString::fromLatin1(kTabNames[kCastsTab])).arg(m_casts.rowCount()));
}

void ValidationDock::renew(Parts) {
  const auto snapshot = m_context.document.snapshot();
  m_decisions.setSnapshot(snapshot);
  if (snapshot) m_casts.setContent(castsContent(*snapshot));
  retitleTabs();
  m_summary->setText(summaryText());
  showTab(m_tabs->currentIndex());
}

void ValidationDock::showTab(int tab) {
  const bool casts = tab == kCastsTab;
  if (!casts && m_decisions.filter() != kFilters[tab]) m_decisions.setFilter(kFilters[tab]);
  m_pages->setCurrentIndex(casts ? 1 : 0);
  const bool model = m_context.document.snapshot() != nullptr;
  const int rows = casts ? m_casts.rowCount() : m_decisions.rowCount();
  if (!model) {
    m_stack->setHint(QStringLiteral("Open a model to see its verdicts."));
  } else if (casts) {
    m_stack->setHint(QStringLiteral("The plan needs no casts."));
  } else if (tab == 1) {
    m_stack->setHint(QStringLiteral("Nothing has been edited yet, or the last edit brought no new answer."));
  } else {
    m_stack->setHint(
        QStringLiteral("Nothing was refused, and nothing has been asked for yet. Pin a node to get an answer."));
  }
  m_stack->showContent(model && rows > 0);
}

extern const DockForm kValidationDock{"Validation", "Ctrl+4", Qt::BottomDockWidgetArea,
                                      [](const DockContext& context) -> Dock* { return new ValidationDock(context); }};

}  // namespace fusescope
