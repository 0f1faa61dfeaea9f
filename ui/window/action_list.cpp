#include <QMenu>

#include "ui/window/actions.h"
#include "ui/window/main_window.h"
#include "ui/window/node_menu.h"

namespace fusescope {

namespace {

QString noModel(MainWindow& window) {
  return window.document().snapshot() ? QString() : QStringLiteral("Open a model first.");
}

void fillRecent(MainWindow& window, QMenu& menu) {
  for (const QString& path : PlanDocument::recentFiles())
    menu.addAction(path, &window, [&window, path] { window.openFile(path); });
  if (menu.isEmpty()) menu.addAction(QStringLiteral("Nothing yet"))->setEnabled(false);
}

void fillSamples(MainWindow& window, QMenu& menu) {
  for (const BundledSample& sample : bundledSamples())
    menu.addAction(sample.name, &window, [&window, path = sample.path] { window.openSample(path); })
        ->setToolTip(sample.description);
}

void fillSelected(MainWindow& window, QMenu& menu) {
  fillNodeMenu(menu, window.context(), window.selection().nodes());
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
