#include "ui/dialogs/goto_dialog.h"

#include <QCoreApplication>
#include <QKeyEvent>
#include <QVBoxLayout>
#include <functional>

#include "ui/document/qt_text.h"

namespace fusescope {

namespace {

constexpr int kMostResults = 60;
constexpr int kActionRole = Qt::UserRole, kNameOfRole = Qt::UserRole + 1;

/// One more result; false when there are enough.
using Add = std::function<bool(const QString& label, const QString& name, int action)>;

void findNodes(const PlanSnapshot::Level& level, const QString& text, const Add& add) {
  const Graph& graph = level.snapshot->graph();
  const auto matches = [&](const std::string& name) {
    return qs(level.path.of(name)).contains(text, Qt::CaseInsensitive);
  };
  for (const Segment& segment : level.snapshot->plan->segments) {
    const QString name = qs(level.path.of(segment.name));
    if (matches(segment.name) && !add(name + QStringLiteral("   segment"), name, -1)) return;
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

}  // namespace

GotoDialog::GotoDialog(const DockContext& context, QList<QAction*> actions, QWidget* parent)
    : QDialog(parent, Qt::Popup | Qt::FramelessWindowHint),
      m_context(context),
      m_actions(std::move(actions)),
      m_text(new QLineEdit),
      m_results(new QListWidget) {
  resize(560, 380);
  m_text->setPlaceholderText(QStringLiteral("Go to a node, a tensor, a segment, or run a command …"));
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
    if (m_results->count() >= kMostResults) return false;
    auto* item = new QListWidgetItem(label, m_results);
    item->setData(kActionRole, action);
    item->setData(kNameOfRole, name);
    return true;
  };
  if (const auto snapshot = m_context.document.snapshot(); snapshot && !text.isEmpty()) {
    // Nodes of the network and its bodies before tensors of any.
    const auto levels = snapshot->levels();
    for (const auto& level : levels) findNodes(level, text, add);
    for (const auto& level : levels) findTensors(level, text, add);
  }
  for (int i = 0; i < m_actions.size(); ++i) {
    const QString label = m_actions[i]->text().remove(QLatin1Char('&'));
    if (!label.contains(text, Qt::CaseInsensitive)) continue;
    const bool able = m_actions[i]->isEnabled();
    const QString beside = able ? m_actions[i]->shortcut().toString(QKeySequence::NativeText) : m_actions[i]->toolTip();
    const QString shown =
        QStringLiteral("› %1%2").arg(label, beside.isEmpty() ? QString() : QStringLiteral("   ") + beside);
    if (add(shown, QString(), i) && !able) {  // greyed, with the reason
      QListWidgetItem* item = m_results->item(m_results->count() - 1);
      item->setFlags(item->flags() & ~Qt::ItemIsEnabled);
    }
  }
  m_results->setCurrentRow(0);
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
