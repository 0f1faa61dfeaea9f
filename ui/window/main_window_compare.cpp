#include <algorithm>
#include <optional>

#include "compilers/probed/recorded_job.h"
#include "ui/compare/two_views.h"
#include "ui/dialogs/cache_dialog.h"
#include "ui/dialogs/compilers_dialog.h"
#include "ui/dialogs/dialog_fields.h"
#include "ui/document/known_environments.h"
#include "ui/jobs/worker_client.h"
#include "ui/ribbon/ribbon.h"
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
  connect(m_worker.get(), &WorkerClient::progressReported, m_ribbon, &Ribbon::showWorkProgress);
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

void MainWindow::showOriginal() {
  m_twoViews->comparison().choose(sides::kOriginal, sides::kScreen);
  showTwoViews(true);
}

/// Returns the environment for a compiler such as "onnxruntime@ssh gpubox python3", which contains its command. Returns
/// nothing for a name, which refers to the user's list, and for the result of a job, which is not an environment.
static std::optional<Environment> environmentIn(const std::string& compiler) {
  const std::size_t at = compiler.find('@');
  if (at == std::string::npos) return std::nullopt;
  const std::string where = compiler.substr(at + 1);
  if (isJobResult(where)) return std::nullopt;
  if (where.find_first_of(" /") == std::string::npos) return std::nullopt;
  return Environment{.name = where, .command = where};
}

void MainWindow::findEnvironmentsOfSession() {
  std::vector<Environment> found;
  const auto add = [&](const PlanOptions& options) {
    const auto environment = environmentIn(options.compiler);
    if (environment && std::ranges::find(found, *environment) == found.end()) found.push_back(*environment);
  };
  add(m_document->options());
  for (const Run& run : m_runs->all()) add(run.options);
  m_environments->setOfSession(std::move(found));
}

void MainWindow::showCompilers() {
  findEnvironmentsOfSession();
  opened<CompilersDialog>(context(), *m_environments, this);
}

void MainWindow::showCache() {
  opened<CacheDialog>(context(), this);
}

void MainWindow::setEnvironments(std::unique_ptr<Environments> environments) {
  m_environments = std::move(environments);
  // A running process knows the environments as they were when it started.
  connect(m_environments.get(), &Environments::renewed, this, [this] {
    for (WorkerClient* worker : {m_worker.get(), m_builder.get()}) worker->renew();
    m_controller->compilers().askAgain();
  });
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
