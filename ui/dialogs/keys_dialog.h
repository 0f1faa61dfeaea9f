#pragma once

#include <QAction>
#include <QDialog>

namespace fusescope {

/// Lists all keys of the window's actions and of the canvas.
class KeysDialog : public QDialog {
  Q_OBJECT

 public:
  KeysDialog(const QList<QAction*>& actions, const QStringList& canvasKeys, QWidget* parent = nullptr);
};

}  // namespace fusescope
