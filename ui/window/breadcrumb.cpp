#include "ui/window/breadcrumb.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QToolButton>
#include <algorithm>

#include "ir/graph.h"
#include "ui/document/qt_text.h"

namespace fusescope {

namespace {

constexpr int kWidestStep = 180, kLeastTarget = 24;

std::vector<NodeId> byNumber(std::vector<NodeId> nodes) {
  std::ranges::sort(nodes, {}, &NodeId::index);
  return nodes;
}

/// Returns whether all of `nodes`, which are sorted by number, are in `of`.
bool holdsAll(const std::vector<NodeId>& of, const std::vector<NodeId>& nodes) {
  return of.size() >= nodes.size() && std::ranges::includes(byNumber(of), nodes, {}, &NodeId::index, &NodeId::index);
}

}  // namespace

Breadcrumb::Breadcrumb(const DockContext& context, QWidget* parent)
    : QFrame(parent), m_context(context), m_row(new QHBoxLayout(this)) {
  m_row->setContentsMargins(4, 0, 4, 0);
  m_row->setSpacing(0);
  setMinimumHeight(kLeastTarget);                      // as high as a step, even if there is none
  m_row->setSizeConstraint(QLayout::SetNoConstraint);  // so that a long path does not make the window wide
  setAccessibleName(QStringLiteral("Where the selection is"));
  connect(&context.selection, &Selection::changed, this, &Breadcrumb::refresh);
  connect(&context.document, &PlanDocument::planChanged, this, &Breadcrumb::refresh);
}

std::vector<Breadcrumb::Step> Breadcrumb::stepsTo(const PlanSnapshot& snapshot) const {
  const std::vector<NodeId>& nodes = m_context.selection.nodes();
  std::vector<Step> steps;
  if (nodes.empty()) return steps;
  const std::vector<NodeId> all = byNumber(nodes);
  if (const Segment* segment = snapshot.segmentOf(nodes.front());
      segment != nullptr && snapshot.cover->segments.size() > 1)
    steps.push_back({qs(segment->name), QStringLiteral("segment"), segment->nodes});
  std::vector<const Module*> around;
  const ModuleTree& tree = *snapshot.modules;
  for (std::int32_t at = tree.moduleOf[nodes.front().index]; at >= 0; at = tree.modules[std::size_t(at)].parent)
    if (holdsAll(tree.modules[std::size_t(at)].nodes, all)) around.push_back(&tree.modules[std::size_t(at)]);
  for (auto module = around.rbegin(); module != around.rend(); ++module)
    steps.push_back({qs((*module)->name), qs((*module)->path), (*module)->nodes});
  const FusedNode* fused = snapshot.fusedOf(nodes.front());
  if (fused != nullptr && fused->nodes.size() > 1 && holdsAll(fused->nodes, all))
    steps.push_back({qs(fused->kind), qs(fused->name), fused->nodes});
  if (nodes.size() == 1) {
    const Node& node = snapshot.graph().node(nodes.front());
    steps.push_back({qs(node.name), qs(node.op), nodes});
  }
  if (!m_context.selection.inside().empty())
    steps.push_back({qs(m_context.selection.inside()), QStringLiteral("in a body"), {}});
  return steps;
}

void Breadcrumb::refresh() {
  while (QLayoutItem* item = m_row->takeAt(0)) {
    if (item->widget() != nullptr) item->widget()->deleteLater();
    delete item;
  }
  const auto snapshot = m_context.document.snapshot();
  if (!snapshot) return;
  const std::vector<Step> steps = stepsTo(*snapshot);
  for (std::size_t i = 0; i < steps.size(); ++i) add(steps[i], i + 1 == steps.size());
}

void Breadcrumb::add(const Step& step, bool last) {
  auto* button = new QToolButton;
  button->setAutoRaise(true);
  // A higher button would make the status bar higher at the first click, and the canvas would be fitted again.
  button->setStyleSheet(QStringLiteral("padding: 0 6px;"));
  button->setFixedHeight(kLeastTarget);
  button->setText(captionText(button->fontMetrics().elidedText(step.text, Qt::ElideMiddle, kWidestStep)));
  button->setToolTip(tipText(step.text + QStringLiteral("\n") + step.tip));
  button->setAccessibleName(step.text);
  connect(button, &QToolButton::clicked, this, [this, nodes = step.nodes] {
    if (!nodes.empty()) m_context.selection.set(nodes);
  });
  m_row->addWidget(button);
  if (last) return;
  auto* mark = new QLabel(QStringLiteral("›"));
  mark->setForegroundRole(QPalette::PlaceholderText);
  m_row->addWidget(mark);
}

QStringList Breadcrumb::steps() const {
  QStringList texts;
  for (int i = 0; i < m_row->count(); ++i)
    if (const auto* button = qobject_cast<QToolButton*>(m_row->itemAt(i)->widget())) texts << button->accessibleName();
  return texts;
}

}  // namespace fusescope
