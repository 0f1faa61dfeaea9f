#include "ui/dialogs/keys_dialog.h"

#include <QTextBrowser>
#include <QVBoxLayout>

namespace fusescope {

KeysDialog::KeysDialog(const QList<QAction*>& actions, const QStringList& canvasKeys, QWidget* parent)
    : QDialog(parent) {
  setWindowTitle(QStringLiteral("Keys"));
  resize(640, 620);
  const auto row = [](const QString& keys, const QString& what) {
    return QStringLiteral("<tr><td style='padding:2px 18px 2px 0'><b>%1</b></td><td>%2</td></tr>")
        .arg(keys.toHtmlEscaped(), what.toHtmlEscaped());
  };
  QString text = QStringLiteral("<h3>Window</h3><table>");
  for (const QAction* action : actions) {
    if (action->shortcut().isEmpty()) continue;
    QStringList keys;
    for (const QKeySequence& key : action->shortcuts()) keys << key.toString(QKeySequence::NativeText);
    text += row(keys.join(QStringLiteral(", ")), action->text().remove(QLatin1Char('&')));
  }
  text += QStringLiteral("</table><h3>Canvas</h3><table>");
  for (const QString& line : canvasKeys)
    text += row(line.section(QStringLiteral(" — "), 0, 0), line.section(QStringLiteral(" — "), 1));
  auto* browser = new QTextBrowser;
  browser->document()->setDocumentMargin(16);
  browser->setHtml(text + QStringLiteral("</table>"));
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->addWidget(browser);
}

}  // namespace fusescope
