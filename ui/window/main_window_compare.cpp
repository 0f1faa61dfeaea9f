#include "ui/compare/two_views.h"
#include "ui/window/main_window.h"

namespace fusescope {

GraphView& MainWindow::shownCanvas() {
  return showsTwoViews() ? m_twoViews->viewOfA() : *m_canvas;
}

bool MainWindow::showsTwoViews() const {
  return m_views->currentWidget() == m_twoViews;
}

void MainWindow::connectTwoViews() {
  m_twoViews->setColorMode(m_canvas->colorMode());
  connect(m_canvas, &GraphView::colorModeChanged, this, [this] { m_twoViews->setColorMode(m_canvas->colorMode()); });
  connect(m_twoViews, &TwoViews::closeWanted, this, [this] { showTwoViews(false); });
  connect(m_search, &QLineEdit::textChanged, this, [this](const QString& text) {
    if (!showsTwoViews()) return;
    for (GraphView* view : {&m_twoViews->viewOfA(), &m_twoViews->viewOfB()}) view->search(text);
  });
}

void MainWindow::showTwoViews(bool shown) {
  if (!m_document->snapshot() || shown == showsTwoViews()) return;
  m_views->setCurrentWidget(shown ? static_cast<QWidget*>(m_twoViews) : m_canvas);
  (shown ? &m_twoViews->viewOfA() : m_canvas)->setFocus();
  if (!shown) showSelectionOnCanvas(this);
  m_actions->refresh();
}

QString MainWindow::predictionRefusal() const {
  const auto snapshot = m_document->snapshot();
  return snapshot && snapshot->made() != nullptr
             ? QString()
             : QStringLiteral("What another compiler made of the plan must be on screen: Build, Build with.");
}

void MainWindow::compareWithPrediction() {
  if (!predictionRefusal().isEmpty()) return;
  m_twoViews->comparison().choose(sides::kPrediction, sides::kScreen);
  showTwoViews(true);
}

}  // namespace fusescope
