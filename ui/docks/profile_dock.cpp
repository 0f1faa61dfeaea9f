#include "ui/docks/profile_dock.h"

#include <QHeaderView>
#include <QSortFilterProxyModel>
#include <QVBoxLayout>

#include "ui/docks/run_html.h"
#include "ui/document/qt_text.h"
#include "ui/models/run_contents.h"

namespace fusescope {

ProfileDock::ProfileDock(const DockContext& context) : Dock(context), m_total(new QLabel), m_view(new QTableView) {
  m_total->setWordWrap(true);
  m_total->setTextFormat(Qt::RichText);
  auto* row = toolRow({m_total}, this, 0);
  auto* sorted = new QSortFilterProxyModel(this);
  sorted->setSourceModel(&m_model);
  sorted->setSortRole(kSortRole);
  m_model.setContent(profileContent(Run(), false));
  m_view->setModel(sorted);
  m_view->setItemDelegate(new CellDelegate(context.theme, {}, m_view));
  m_view->setSelectionMode(QAbstractItemView::SingleSelection);
  m_view->setAccessibleName(QStringLiteral("Profile"));
  styleTable(*m_view, {0, 100, 120, 90, 210, 90, 90}, true);
  m_view->horizontalHeader()->setSortIndicator(-1, Qt::DescendingOrder);
  m_stack = new HintStack(m_view, QStringLiteral("Build the plan to see where its time goes."));
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(0);
  layout->addWidget(row);
  layout->addWidget(m_stack, 1);
  connect(&context.runs, &Runs::shownChanged, this, &ProfileDock::refreshAll);
  connect(&context.runs, &Runs::runChanged, this, [this](const QString& id) {
    if (const Run* shown = shownRun(id); shown != nullptr && shown->time) refreshAll();
  });
  connect(&context.document, &PlanDocument::planChanged, this, &ProfileDock::refreshAll);
  connect(m_view, &QTableView::clicked, this,
          [this](const QModelIndex& index) { goTo(m_context, index.data(kNameRole).toString(), this); });
}

void ProfileDock::renew(Parts parts) {
  const Run* run = m_context.runs.shown();
  const bool other = run != nullptr && !m_context.runs.ofThisPlan(*run);
  m_total->setText(totalText(run, other));
  if (parts == kTheme) return;
  Run times;
  if (run != nullptr) times.time = run->time;
  produce([times, other] { return std::make_shared<TableContent>(profileContent(times, other)); },
          [this](const std::shared_ptr<TableContent>& content) {
            m_model.setContent(std::move(*content));
            m_stack->showContent(m_model.rowCount() > 0);
          });
}

QString ProfileDock::totalText(const Run* run, bool ofOtherPlan) const {
  if (run == nullptr) return {};
  QString text = QStringLiteral("<b>%1</b>").arg(Runs::title(*run).toHtmlEscaped());
  if (ofOtherPlan) {
    text += QStringLiteral(" <span style='color:%1'>· of another plan than the one on screen</span>")
                .arg(m_context.theme().warning.name());
  }
  return text + timeHtml(*run, m_context.theme());
}

extern const DockForm kProfileDock{"Profile", "Ctrl+6", Qt::BottomDockWidgetArea,
                                   [](const DockContext& context) -> Dock* { return new ProfileDock(context); }};

}  // namespace fusescope
