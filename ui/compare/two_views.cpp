#include "ui/compare/two_views.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QStackedLayout>

#include "ui/compare/difference_delegate.h"
#include "ui/document/qt_text.h"
#include "ui/widgets/common_widgets.h"
#include "ui/widgets/elided_label.h"

namespace fusescope {
namespace {

constexpr int kListWidth = 290, kLeastView = 140;

QToolButton* makeButton(const QString& text, const QString& tip) {
  auto* button = new QToolButton;
  button->setText(text);
  button->setToolTip(tip);
  button->setAccessibleName(tip);
  button->setAutoRaise(true);
  button->setMinimumSize(26, 26);
  return button;
}

}  // namespace

TwoViews::TwoViews(const DockContext& context, QWidget* parent)
    : QWidget(parent),
      m_context(context),
      m_comparison(new PlanComparison(context.document, context.runs, context.fileDiff, context.jobs, this)),
      m_model(new DifferenceModel(this)) {
  m_both = new QSplitter(Qt::Horizontal);
  m_both->setChildrenCollapsible(false);
  for (int side = 0; side < 2; ++side) m_both->addWidget(makeSide(side));
  m_parts = new QSplitter(Qt::Horizontal);
  m_parts->setChildrenCollapsible(false);
  m_parts->addWidget(makeList());
  m_parts->addWidget(m_both);
  m_parts->setStretchFactor(1, 1);
  m_parts->setSizes({kListWidth, 3 * kListWidth});
  m_hint = new QLabel;
  m_hint->setAlignment(Qt::AlignCenter);
  m_hint->setWordWrap(true);
  m_hint->setMargin(spacing::kLarge);
  auto* pages = new QWidget;
  m_pages = new QStackedLayout(pages);
  m_pages->addWidget(m_hint);
  m_pages->addWidget(m_parts);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  column->addWidget(makeBar());
  column->addWidget(pages, 1);
  setAccessibleName(QStringLiteral("Two views"));
  connectViews();
  connect(m_comparison, &PlanComparison::choicesChanged, this, &TwoViews::renewChoices);
  connect(m_comparison, &PlanComparison::changed, this, &TwoViews::renewPair);
  connect(m_comparison, &PlanComparison::scenesChanged, this, &TwoViews::renewScenes);
  connect(&context.selection, &Selection::changed, this, &TwoViews::showSelection);
  refreshTheme();
  renewPair();
}

QWidget* TwoViews::makeBar() {
  m_a = new NameComboBox;
  m_b = new NameComboBox;
  m_a->setAccessibleName(QStringLiteral("Plan A, with which plan B is compared"));
  m_b->setAccessibleName(QStringLiteral("Plan B"));
  for (QComboBox* chooser : {m_a, m_b}) {
    chooser->setMinimumContentsLength(12);
    connect(chooser, qOverload<int>(&QComboBox::activated), this, &TwoViews::choose);
  }
  m_swap = makeButton(QStringLiteral("\u21c4"), QStringLiteral("Swap A and B"));
  m_above = makeButton(QStringLiteral("\u25a4"), QStringLiteral("One above the other, or side by side"));
  m_above->setCheckable(true);
  m_previous = makeButton(QStringLiteral("\u25b2"), QStringLiteral("Previous difference (Alt+Up, Shift+N)"));
  m_next = makeButton(QStringLiteral("\u25bc"), QStringLiteral("Next difference (Alt+Down, N)"));
  m_close = makeButton(QStringLiteral("\u2715"), QStringLiteral("Back to the canvas (F4)"));
  m_summary = new ElidedLabel;
  m_summary->setMinimumWidth(60);
  m_summary->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
  connect(m_swap, &QToolButton::clicked, this, &TwoViews::swap);
  connect(m_above, &QToolButton::toggled, this, &TwoViews::setAbove);
  connect(m_previous, &QToolButton::clicked, this, [this] { goToNext(-1); });
  connect(m_next, &QToolButton::clicked, this, [this] { goToNext(1); });
  connect(m_close, &QToolButton::clicked, this, &TwoViews::closeWanted);
  auto* bar = new QWidget;
  auto* row = new QHBoxLayout(bar);
  row->setContentsMargins(spacing::kMedium, spacing::kSmall, spacing::kMedium, spacing::kSmall);
  row->setSpacing(spacing::kSmall);
  row->addWidget(new QLabel(QStringLiteral("A")));
  row->addWidget(m_a, 2);
  row->addWidget(m_swap);
  row->addWidget(new QLabel(QStringLiteral("B")));
  row->addWidget(m_b, 2);
  row->addWidget(m_above);
  row->addWidget(m_previous);
  row->addWidget(m_next);
  row->addWidget(m_summary, 3);
  row->addWidget(m_close);
  return bar;
}

QWidget* TwoViews::makeSide(int side) {
  m_views[side] = new GraphView;
  m_views[side]->setAccessibleName(side == 0 ? QStringLiteral("Graph of A") : QStringLiteral("Graph of B"));
  m_views[side]->setMinimumSize(kLeastView, kLeastView);
  m_views[0]->setMinimapVisible(false);
  if (side == 1) m_views[1]->setLegendVisible(false);
  m_captions[side] = new ElidedLabel;
  m_captions[side]->setContentsMargins(spacing::kMedium, 2, spacing::kMedium, 2);
  m_captions[side]->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
  auto* box = new QWidget;
  auto* column = new QVBoxLayout(box);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  column->addWidget(m_captions[side]);
  column->addWidget(m_views[side], 1);
  return box;
}

QWidget* TwoViews::makeList() {
  m_order = new QComboBox;
  m_order->addItems({QStringLiteral("Largest cost first"), QStringLiteral("In order of execution")});
  m_order->setAccessibleName(QStringLiteral("Order of the differences"));
  connect(m_order, qOverload<int>(&QComboBox::currentIndexChanged), this, [this](int order) {
    m_model->setOrder(order == 0 ? DifferenceModel::Order::Cost : DifferenceModel::Order::Execution);
  });
  m_list = new QTreeView;
  m_list->setModel(m_model);
  m_list->setItemDelegate(new DifferenceDelegate(m_context.theme, m_list));
  m_list->setAccessibleName(QStringLiteral("Differences"));
  m_list->setSelectionBehavior(QAbstractItemView::SelectRows);
  m_list->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  m_list->setIndentation(14);
  m_list->setHeaderHidden(true);
  // The delegate draws these columns beside the words.
  for (const int cost : {1, 2}) m_list->setColumnHidden(cost, true);
  connect(m_list->selectionModel(), &QItemSelectionModel::currentRowChanged, this,
          [this](const QModelIndex& now) { goTo(now.siblingAtColumn(0)); });
  auto* box = new QWidget;
  box->setMinimumWidth(kLeastView);
  auto* column = new QVBoxLayout(box);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  column->addWidget(m_order);
  column->addWidget(m_list, 1);
  return box;
}

// Both views have the same camera: moving one of them moves the other.
void TwoViews::connectViews() {
  for (int side = 0; side < 2; ++side) {
    GraphView* other = m_views[1 - side];
    connect(m_views[side], &GraphView::cameraChanged, other, &GraphView::setCamera);
    connect(m_views[side], &GraphView::openWanted, m_comparison, &PlanComparison::setOpen);
    connect(m_views[side], &GraphView::selectionChanged, this,
            [this, view = m_views[side]](const QStringList& names) { takeSelection(names, view); });
    connect(m_views[side], &GraphView::contextMenuRequested, this,
            [this](const QStringList&, const QPoint& place) { m_context.nodeMenu(place); });
  }
}

void TwoViews::refreshTheme() {
  const Theme& theme = m_context.theme();
  for (GraphView* view : m_views) view->setTheme(theme);
  const QColor colors[] = {theme.error, theme.success};
  for (int side = 0; side < 2; ++side) {
    QPalette palette = m_captions[side]->palette();
    palette.setColor(QPalette::WindowText, colors[side]);
    m_captions[side]->setPalette(palette);
  }
  m_list->viewport()->update();
}

void TwoViews::setColorMode(const ColorMode& mode) {
  for (GraphView* view : m_views) view->setColorMode(mode);
}

void TwoViews::setAbove(bool above) {
  m_both->setOrientation(above ? Qt::Vertical : Qt::Horizontal);
  m_above->setChecked(above);
}
bool TwoViews::isAbove() const {
  return m_both->orientation() == Qt::Vertical;
}

void TwoViews::swap() {
  m_comparison->swap();
  renewChoices();
}

void TwoViews::choose() {
  m_comparison->choose(m_a->currentData().toString(), m_b->currentData().toString());
}

void TwoViews::renewChoices() {
  const std::vector<SideChoice> choices = m_comparison->choices();
  const std::pair<QComboBox*, QString> choosers[] = {{m_a, m_comparison->a()}, {m_b, m_comparison->b()}};
  for (const auto& [chooser, chosen] : choosers) {
    const QSignalBlocker quiet(chooser);
    chooser->clear();
    for (const SideChoice& choice : choices) chooser->addItem(choice.title, choice.id);
    chooser->setCurrentIndex(chooser->findData(chosen));
  }
}

QString TwoViews::sideText(const PlanSide& side, const DiffTotals& totals) const {
  if (side.id == sides::kOriginal)
    return QStringLiteral("%1 \u00b7 %2").arg(side.title, plural(totals.nodes, QStringLiteral("node")));
  QStringList parts{side.title, qs(totals.precision), plural(totals.fusedNodes, QStringLiteral("fused node")),
                    plural(totals.casts, QStringLiteral("conversion"))};
  if (totals.time) {
    const bool isFitted = totals.time->how == DiffTimeKind::Fitted;
    parts << timeText({isFitted ? TimeKind::Fitted : TimeKind::Predicted, totals.time->ms}) +
                 QStringLiteral(" predicted");
  }
  return parts.join(QStringLiteral(" \u00b7 "));
}

QString TwoViews::summaryText() const {
  const auto pair = m_comparison->pair();
  if (!m_comparison->problem().isEmpty()) return m_comparison->problem();
  if (!pair) return m_comparison->busy() ? QStringLiteral("Comparing \u2026") : QString();
  if (const QString node = fileNodeText(); !node.isEmpty()) return node;
  const bool onlyTimes = pair->diff.same();
  if (pair->groups.empty()) return QStringLiteral("Nothing differs.");
  QString text = onlyTimes ? QStringLiteral("Only times differ.")
                           : plural(std::int64_t(pair->groups.size()), QStringLiteral("difference"));
  const QModelIndex now = m_list->currentIndex();
  const int row = now.parent().isValid() ? now.parent().row() : now.row();
  if (now.isValid() && !onlyTimes) text = QStringLiteral("%1 of %2").arg(row + 1).arg(text);
  if (pair->diff.a.time && pair->diff.b.time) {
    const double delta = pair->diff.b.time->ms - pair->diff.a.time->ms;
    text += QStringLiteral(" \u00b7 B %1 predicted").arg(signedMsText(delta));
  }
  for (const std::string& sentence : predictionTexts(pair->diff)) text += QStringLiteral(" \u00b7 ") + qs(sentence);
  if (!pair->both.oneGraph)
    text += QStringLiteral(" \u00b7 the networks differ in their nodes: %1 only in A, %2 only in B")
                .arg(pair->diff.onlyA.size())
                .arg(pair->diff.onlyB.size());
  return text;
}

QString TwoViews::summary() const {
  return m_pages->currentWidget() == m_hint ? m_hint->text() : m_summary->text();
}

void TwoViews::renewPair() {
  const auto pair = m_comparison->pair();
  const QModelIndex before = m_list->currentIndex();
  const int row = before.parent().isValid() ? before.parent().row() : before.row();
  const bool samePair = pair && m_shown && pair->a == m_shown->a && pair->b == m_shown->b;
  {
    const QSignalBlocker quiet(m_list->selectionModel());
    m_model->setPair(pair);
  }
  if (samePair && before.isValid()) {  // the same pair, for which causes were found
    const QSignalBlocker quiet(m_list->selectionModel());
    m_list->setCurrentIndex(m_model->index(row, 0));
  }
  renewChoices();
  m_summary->setText(summaryText());
  m_summary->setToolTip(m_summary->text());
  m_hint->setText(summaryText());
  m_pages->setCurrentWidget(pair ? static_cast<QWidget*>(m_parts) : m_hint);
  if (!pair) return;
  const std::pair<const PlanSide*, const DiffTotals*> said[] = {{pair->a.get(), &pair->diff.a},
                                                                {pair->b.get(), &pair->diff.b}};
  for (int side = 0; side < 2; ++side) {
    m_captions[side]->setText((side == 0 ? QStringLiteral("\u2212 A  ") : QStringLiteral("+ B  ")) +
                              sideText(*said[side].first, *said[side].second));
    m_captions[side]->setToolTip(m_captions[side]->text());
    m_views[side]->setTimes(said[side].first->times);
  }
}

void TwoViews::renewScenes() {
  const auto scenes = m_comparison->scenes();
  const auto pair = m_comparison->pair();
  if (!scenes || !pair) return;
  // If only one of the plans was edited, the pair is not new.
  const bool isNew = !m_shown || m_shown->a->id != pair->a->id || m_shown->b->id != pair->b->id;
  m_shown = pair;
  const Model* model = pair->both.cover->model.get();
  m_views[0]->setScene(scenes->a, scenes->overlayOfA, scenes->open, model);
  m_views[1]->setScene(scenes->b, scenes->overlayOfB, scenes->open, model);
  m_views[1]->setCamera(m_views[0]->camera());
  showSelection(this);
  if (isNew && m_model->groupCount() > 0 && !m_list->currentIndex().isValid()) goToNext(1);
}

void TwoViews::showEvent(QShowEvent* event) {
  QWidget::showEvent(event);
  m_comparison->setRoom(isAbove() ? QSizeF(width() - kListWidth, height() / 2)
                                  : QSizeF((width() - kListWidth) / 2, height()));
  m_comparison->setActive(true);
  renewChoices();
}

void TwoViews::hideEvent(QHideEvent* event) {
  QWidget::hideEvent(event);
  m_comparison->setActive(false);
}

Json TwoViews::state() const {
  return {{"a", m_comparison->a().toStdString()},
          {"b", m_comparison->b().toStdString()},
          {"above", isAbove()},
          {"shown", isVisibleTo(parentWidget())}};
}

void TwoViews::restore(const Json& state) {
  if (!state.is_object()) return;
  const auto textOf = [&](const char* key) {
    return state.contains(key) && state[key].is_string() ? qs(state[key].get<std::string>()) : QString();
  };
  setAbove(state.contains("above") && state["above"].is_boolean() && state["above"].get<bool>());
  if (!textOf("a").isEmpty() && !textOf("b").isEmpty()) m_comparison->choose(textOf("a"), textOf("b"));
}

}  // namespace fusescope
