#include <QMenu>

#include "ui/compare/two_views.h"
#include "ui/document/qt_text.h"
#include "ui/window/actions.h"
#include "ui/window/main_window.h"
#include "ui/window/node_menu.h"
#include "ui/window/report_action.h"

namespace fusescope {

namespace {

QString noModel(MainWindow& window) {
  return window.document().snapshot() ? QString() : QStringLiteral("Open a model first.");
}

QString noTwoViews(MainWindow& window) {
  return window.showsTwoViews() ? QString() : QStringLiteral("Show two views first (F4).");
}

void fillRecent(MainWindow& window, QMenu& menu) {
  for (const QString& path : PlanDocument::recentFiles())
    menu.addAction(path, &window, [&window, path] { window.openFile(path); });
  if (menu.isEmpty()) menu.addAction(QStringLiteral("Nothing yet"))->setEnabled(false);
}

void fillSamples(MainWindow& window, QMenu& menu) {
  for (const BundledSample& sample : bundledSamples())
    menu.addAction(sample.name, &window, [&window, path = sample.path] { window.openFile(path); })
        ->setToolTip(sample.description);
}

void fillSelected(MainWindow& window, QMenu& menu) {
  fillNodeMenu(menu, window.context(), window.selection().nodes());
}

/// Chooses the compiler and builds. One that cannot compile says why.
void fillCompilers(MainWindow& window, QMenu& menu) {
  Compilers& compilers = window.controller().compilers();
  compilers.ask();
  const QString now = qs(window.document().options().compiler);
  for (const Compiler* compiler : allCompilers()) {
    QAction* action = menu.addAction(compilers.title(compiler->name()), &window, [&window, compiler] {
      window.showDock(QStringLiteral("Runs"));
      window.controller().buildWith(*compiler);
    });
    action->setCheckable(true);
    action->setChecked(now == qs(compiler->name()));
    const QString problem = window.controller().buildWithRefusal(*compiler);
    action->setEnabled(problem.isEmpty());
    action->setToolTip(problem);
  }
}

/// Every action that a command does as well.
void fillCommands(MainWindow& window, QMenu& menu) {
  for (const ActionForm& form : actionForms())
    if (form.command != nullptr)
      menu.addAction(QString::fromUtf8(form.text), &window, [&window, &form] {
        const DockContext context = window.context();
        copyCommand(context, window, form.command(context));
      });
}

QString undoLabel(MainWindow& window) {
  return QStringLiteral("Undo ") + window.document().undoStack().undoText();
}
QString redoLabel(MainWindow& window) {
  return QStringLiteral("Redo ") + window.document().undoStack().redoText();
}

}  // namespace

const std::vector<ActionForm>& actionForms() {
  static const std::vector<ActionForm> kForms{
#include "ui/window/actions.inc"
  };
  return kForms;
}

}  // namespace fusescope
