#include "ui/docks/profile_dock.h"

#include <QHBoxLayout>
#include <QHeaderView>
#include <QSortFilterProxyModel>
#include <QVBoxLayout>

#include "ui/document/qt_text.h"
#include "ui/models/contents.h"

namespace fusescope {

ProfileDock::ProfileDock(const DockContext& context, QWidget* parent)
    : QWidget(parent), m_context(context), m_slot(new QComboBox), m_total(new QLabel), m_view(new QTableView) {
  m_slot->addItems({QStringLiteral("A"), QStringLiteral("B")});
  m_slot->setSizeAdjustPolicy(QComboBox::AdjustToContents);
  m_total->setWordWrap(true);
  auto* row = toolRow({m_slot, m_total}, this);
  static_cast<QHBoxLayout*>(row->layout())->setStretch(1, 1);
  auto* sorted = new QSortFilterProxyModel(this);
  sorted->setSourceModel(&m_model);
  sorted->setSortRole(kSortRole);
  m_model.setContent(profileContent(Json()));
  m_view->setModel(sorted);
  m_view->setItemDelegate(new CellDelegate(context.theme, {}, m_view));
  m_view->setSelectionMode(QAbstractItemView::SingleSelection);
  m_view->setAccessibleName(QStringLiteral("Profile"));
  styleTable(*m_view, {0, 100, 120, 210, 90, 90}, true);
  m_view->horizontalHeader()->setSortIndicator(-1, Qt::DescendingOrder);
  m_stack = new HintStack(m_view, QStringLiteral("Build an engine to see where its time goes."));
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(0);
  layout->addWidget(row);
  layout->addWidget(m_stack, 1);
  connect(m_slot, qOverload<int>(&QComboBox::currentIndexChanged), this, &ProfileDock::refresh);
  connect(&context.builds, &BuildController::slotChanged, this, [this](int index) {
    if (m_context.builds.slot(index).state == EngineSlot::State::Ready && m_context.builds.slot(index).time.is_object())
      m_slot->setCurrentIndex(index);
    refresh();
  });
  connect(m_view, &QTableView::clicked, this,
          [this](const QModelIndex& index) { goTo(m_context, index.data(kNameRole).toString(), this); });
  refresh();
}

void ProfileDock::refresh() {
  const int index = m_slot->currentIndex();
  for (const int slot : {0, 1}) m_slot->setItemText(slot, m_context.builds.slotTitle(slot));
  const Json& time = m_context.builds.slot(index).time;
  m_model.setContent(profileContent(time));
  const auto median = numberIn(time, "median_ms");
  const std::string why = textIn(time, "unavailable_reason");
  const Theme& theme = m_context.theme();
  if (median) {
    m_total->setText(QStringLiteral("<b>%1</b> median · %2 fastest · %3 p95 · %4 samples on %5%6")
                         .arg(msText(median), msText(numberIn(time, "min_ms")), msText(numberIn(time, "p95_ms")))
                         .arg(time.value("samples", std::int64_t{0}))
                         .arg(plural(time.value("threads", std::int64_t{0}), QStringLiteral("thread")),
                              time.value("quiet", true)
                                  ? QString()
                                  : QStringLiteral(" · <span style='color:%1'>⚠ the machine was not quiet</span>")
                                        .arg(theme.warning.name())));
  } else if (time.is_object()) {
    m_total->setText(QStringLiteral("<span style='color:%1'><b>Time unavailable.</b> %2</span>")
                         .arg(theme.warning.name(), html(why)));
  } else {
    m_total->clear();
  }
  m_stack->showContent(m_model.rowCount() > 0);
}

}  // namespace fusescope
