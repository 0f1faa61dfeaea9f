#include "ui/dialogs/goto_dialog.h"

#include <QCoreApplication>
#include <QKeyEvent>
#include <QVBoxLayout>
#include <algorithm>
#include <vector>

#include "ir/graph.h"
#include "ui/document/qt_text.h"

namespace fusescope {

namespace {

constexpr int kMostResults = 60;
constexpr int kActionRole = Qt::UserRole, kNameOfRole = Qt::UserRole + 1;

using Add = GotoDialog::Add;

void findNodes(const PlanSnapshot::Level& level, const QString& text, const Add& add) {
  const Graph& graph = level.snapshot->graph();
  const auto matches = [&](const std::string& name) {
    return qs(level.path.of(name)).contains(text, Qt::CaseInsensitive);
  };
  for (const Segment& segment : level.snapshot->cover->segments) {
    const QString name = qs(level.path.of(segment.name));
    if (matches(segment.name) && !add(name + QStringLiteral("   segment"), name, -1)) return;
  }
  const CoverBlocks& blocks = *level.snapshot->blocks;
  for (const CoverBlock& block : blocks.all()) {
    const Module& module = blocks.moduleOf(block);
    if (!matches(module.path) && !qs(module.title).contains(text, Qt::CaseInsensitive)) continue;
    const QString handle = qs(level.path.exactly(blocks.handleOf(*level.snapshot->cover, block)));
    if (!add(QStringLiteral("%1   block %2").arg(qs(level.path.of(module.path)), qs(module.title)), handle, -1)) return;
  }
  for (const NodeId id : graph.order()) {
    const QString name = qs(level.path.of(graph.node(id).name));
    if (matches(graph.node(id).name) && !add(QStringLiteral("%1   %2").arg(name, qs(graph.node(id).op)), name, -1))
      return;
  }
}

void findTensors(const PlanSnapshot::Level& level, const QString& text, const Add& add) {
  const Graph& graph = level.snapshot->graph();
  for (const ValueId id : graph.allValues()) {
    const QString name = qs(level.path.of(graph.value(id).name));
    if (graph.isConstant(id) || !name.contains(text, Qt::CaseInsensitive)) continue;
    if (!add(name + QStringLiteral("   tensor"), name, -1)) return;
  }
}

QString nameOf(const QAction& action) {
  return action.text().remove(QLatin1Char('&'));
}

/// Returns the indices of the actions whose names begin with `text`, with those that can be chosen first, and of the
/// actions whose names contain it elsewhere.
std::pair<std::vector<int>, std::vector<int>> actionsNamed(const QList<QAction*>& actions, const QString& text) {
  std::vector<int> beginning, containing;
  for (int i = 0; i < actions.size(); ++i) {
    const QString name = nameOf(*actions[i]);
    if (!text.isEmpty() && name.startsWith(text, Qt::CaseInsensitive)) {
      beginning.push_back(i);
    } else if (name.contains(text, Qt::CaseInsensitive)) {
      containing.push_back(i);
    }
  }
  std::ranges::stable_partition(beginning, [&](int action) { return actions[action]->isEnabled(); });
  return {beginning, containing};
}

}  // namespace

GotoDialog::GotoDialog(const DockContext& context, QList<QAction*> actions, QWidget* parent)
    : QDialog(parent, Qt::Popup | Qt::FramelessWindowHint),
      m_context(context),
      m_actions(std::move(actions)),
      m_text(new QLineEdit),
      m_results(new QListWidget) {
  resize(560, 380);
  m_text->setPlaceholderText(QStringLiteral("Go to a node, a tensor, a block, a segment, or run a command …"));
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(10, 10, 10, 10);
  layout->addWidget(m_text);
  layout->addWidget(m_results);
  m_text->installEventFilter(this);
  connect(m_text, &QLineEdit::textChanged, this, &GotoDialog::find);
  connect(m_results, &QListWidget::itemActivated, this, &GotoDialog::choose);
  connect(m_results, &QListWidget::itemClicked, this, &GotoDialog::choose);
  find();
  m_text->setFocus();
}

bool GotoDialog::eventFilter(QObject* watched, QEvent* event) {
  if (event->type() == QEvent::KeyPress) {
    auto* key = static_cast<QKeyEvent*>(event);
    if (key->key() == Qt::Key_Return || key->key() == Qt::Key_Enter) {
      choose();
      return true;
    }
    if (key->key() == Qt::Key_Down || key->key() == Qt::Key_Up || key->key() == Qt::Key_PageDown ||
        key->key() == Qt::Key_PageUp) {
      QCoreApplication::sendEvent(m_results, event);
      return true;
    }
  }
  return QDialog::eventFilter(watched, event);
}

void GotoDialog::find() {
  m_results->clear();
  const QString text = m_text->text().trimmed();
  const Add add = [&](const QString& label, const QString& name, int action) {
    if (action < 0 && m_results->count() >= kMostResults) return false;
    auto* item = new QListWidgetItem(label, m_results);
    item->setData(kActionRole, action);
    item->setData(kNameOfRole, name);
    return true;
  };
  // Names that begin with the text come first, because thousands of nodes may contain it.
  const auto [beginning, containing] = actionsNamed(m_actions, text);
  for (const int action : beginning) addAction(action, add);
  if (const auto snapshot = m_context.document.snapshot(); snapshot && !text.isEmpty()) {
    // Nodes of the network and of its bodies come before all tensors.
    const auto levels = snapshot->levels();
    for (const auto& level : levels) findNodes(level, text, add);
    for (const auto& level : levels) findTensors(level, text, add);
  }
  for (const int action : containing) addAction(action, add);
  if (m_results->count() == 0)
    (new QListWidgetItem(QStringLiteral("No node, tensor, block, segment or command has “%1” in its name.").arg(text),
                         m_results))
        ->setFlags(Qt::NoItemFlags);
  int row = 0;  // the first row that can be chosen
  while (row < m_results->count() && (m_results->item(row)->flags() & Qt::ItemIsEnabled) == 0) ++row;
  m_results->setCurrentRow(row < m_results->count() ? row : 0);
}

void GotoDialog::addAction(int index, const Add& add) {
  const QAction& action = *m_actions[index];
  const bool able = action.isEnabled();
  const QString beside = able                      ? action.shortcut().toString(QKeySequence::NativeText)
                         : action.data().isValid() ? action.data().toString()
                                                   : action.toolTip();
  add(QStringLiteral("› %1%2").arg(nameOf(action), beside.isEmpty() ? QString() : QStringLiteral("   ") + beside),
      QString(), index);
  if (able) return;  // otherwise it is disabled, with the reason
  QListWidgetItem* item = m_results->item(m_results->count() - 1);
  item->setFlags(item->flags() & ~Qt::ItemIsEnabled);
}

void GotoDialog::choose() {
  const QListWidgetItem* item = m_results->currentItem();
  if (!item || (item->flags() & Qt::ItemIsEnabled) == 0) return;
  const int action = item->data(kActionRole).toInt();
  const QString name = item->data(kNameOfRole).toString();
  accept();
  if (action >= 0) {
    m_actions[action]->trigger();
  } else {
    goTo(m_context, name, this);
  }
}

}  // namespace fusescope
