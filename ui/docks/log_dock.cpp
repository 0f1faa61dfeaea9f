#include "ui/docks/log_dock.h"

#include <QApplication>
#include <QClipboard>
#include <QHBoxLayout>
#include <QScrollBar>
#include <QUrl>
#include <QVBoxLayout>

#include "ui/docks/log_contents.h"
#include "ui/document/qt_text.h"

namespace fusescope {

namespace {

constexpr int kLogClockMs = 250;

}  // namespace

LogDock::LogDock(const DockContext& context)
    : Dock(context),
      m_run(new NameComboBox),
      m_filter(new QLineEdit),
      m_follow(new QCheckBox(QStringLiteral("Follow"))),
      m_copy(new QPushButton(QStringLiteral("Copy"))),
      m_status(new QLabel),
      m_before(new QLabel),
      m_view(new QTableView),
      m_log(new QTextBrowser) {
  m_run->setAccessibleName(QStringLiteral("Run whose log is shown"));
  m_run->setMinimumContentsLength(16);
  m_filter->setPlaceholderText(QStringLiteral("Lines that contain…"));
  m_filter->setAccessibleName(QStringLiteral("Filter of the log"));
  m_filter->setClearButtonEnabled(true);
  m_filter->setMinimumWidth(140);
  m_follow->setChecked(true);
  m_follow->setToolTip(QStringLiteral("The newest line stays in view"));
  m_status->setForegroundRole(QPalette::PlaceholderText);
  m_status->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
  auto* row = toolRow({m_run, m_filter, m_follow, m_copy, m_status}, this, 4);
  m_log->setOpenLinks(false);
  m_log->document()->setDocumentMargin(8);
  m_log->setFont(monoFont());
  m_log->setPlaceholderText(QStringLiteral("The worker's messages about a run appear here."));
  m_log->setAccessibleName(QStringLiteral("Log of the run"));
  m_phases.setContent(phasesContent(Run(), nullptr));
  m_view->setModel(&m_phases);
  m_view->setItemDelegate(new CellDelegate(context.theme, {}, m_view));
  m_view->setSelectionMode(QAbstractItemView::SingleSelection);
  m_view->setAccessibleName(QStringLiteral("Phases of the build"));
  styleTable(*m_view, {0, 90, 90, 90}, false);
  m_stack = new HintStack(m_view, QStringLiteral("Build a plan to see how long each phase takes."));
  m_before->setForegroundRole(QPalette::PlaceholderText);
  m_before->setWordWrap(true);
  m_before->setMargin(6);
  auto* side = new QVBoxLayout;
  side->setSpacing(0);
  side->addWidget(m_stack, 1);
  side->addWidget(m_before);
  auto* lower = new QHBoxLayout;
  lower->setSpacing(0);
  lower->addWidget(m_log, 3);
  lower->addLayout(side, 2);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(0);
  layout->addWidget(row);
  layout->addLayout(lower, 1);
  connect(m_run, qOverload<int>(&QComboBox::activated), this, &LogDock::refreshAll);
  connect(m_filter, &QLineEdit::textChanged, this, [this] { refresh(kLines); });
  connect(m_follow, &QCheckBox::toggled, this, [this] { refresh(kLines); });
  connect(m_copy, &QPushButton::clicked, this, [this] { QApplication::clipboard()->setText(m_log->toPlainText()); });
  connect(m_log, &QTextBrowser::anchorClicked, this, [this](const QUrl& link) {
    goTo(m_context, QUrl::fromPercentEncoding(link.path(QUrl::FullyEncoded).toUtf8()), this);
  });
  connect(&context.runs, &Runs::runsChanged, this, &LogDock::refreshAll);
  connect(&context.runs, &Runs::shownChanged, this, &LogDock::refreshAll);
  connect(&context.runs, &Runs::runChanged, &m_clock, [this] {
    if (!m_clock.isActive()) refreshAll();  // otherwise the clock refreshes it while the worker works
  });
  connect(&context.controller, &RunController::activityChanged, this, &LogDock::refreshAll);
  connect(&context.document, &PlanDocument::modelChanged, this, [this] {
    m_loggedRun.clear();  // its links belong to the previous model
    refreshAll();
  });
  connect(&m_clock, &QTimer::timeout, this, [this] {
    if (!isVisible()) m_clock.stop();
    refreshAll();
  });
  m_clock.setInterval(kLogClockMs);
}

const Run* LogDock::run() const {
  const Runs& runs = m_context.runs;
  if (const Run* chosen = runs.find(m_run->currentData().toString().toStdString())) return chosen;
  for (auto it = runs.all().rbegin(); it != runs.all().rend(); ++it)
    if (it->working()) return &*it;
  return runs.shown();
}

void LogDock::renew(Parts parts) {
  if ((parts & kTheme) != 0) m_loggedRun.clear();  // its links have the colour of the previous theme
  const RunController& controller = m_context.controller;
  const bool busy = controller.busy();
  if (busy && isVisible() && !m_clock.isActive()) m_clock.start();
  if (!busy) m_clock.stop();
  m_status->setText(busy ? QStringLiteral("%1 s  %2")
                               .arg(static_cast<double>(controller.elapsedMs()) / 1000, 0, 'f', 1)
                               .arg(controller.activity())
                         : QString());
  renewChooser();
  const Run* of = run();
  if ((parts & ~kLines) != 0) renewPhases(of);
  renewLog(of);
  offer(*m_copy, m_log->document()->isEmpty() ? QStringLiteral("There is no line to copy.") : QString(),
        QStringLiteral("Copies the displayed lines to the clipboard"));
}

void LogDock::renewChooser() {
  const QString chosen = m_run->currentData().toString();
  m_run->clear();
  m_run->addItem(QStringLiteral("The running or displayed run"), QString());
  const auto& runs = m_context.runs.all();
  for (auto it = runs.rbegin(); it != runs.rend(); ++it) m_run->addItem(Runs::title(*it), qs(it->id));
  m_run->setCurrentIndex(std::max(0, m_run->findData(chosen)));
  offer(*m_run, runs.empty() ? QStringLiteral("There is no run yet.") : QString(),
        QStringLiteral("The run whose log is shown"));
}

void LogDock::renewPhases(const Run* run) {
  const Run* last = run == nullptr ? nullptr : lastOfItsKind(m_context.runs.all(), *run);
  m_phases.setContent(phasesContent(run == nullptr ? Run() : *run, last));
  m_stack->showContent(m_phases.rowCount() > 0);
  m_before->setText(last == nullptr ? QString() : QStringLiteral("Last time: %1").arg(Runs::title(*last)));
  m_before->setVisible(m_phases.rowCount() > 0 && last != nullptr);
}

void LogDock::renewLog(const Run* run) {
  const std::string id = run == nullptr ? std::string() : run->id;
  const QString filter = m_filter->text();
  if (id != m_loggedRun || filter != m_loggedFilter || run == nullptr || run->log.size() < m_loggedLines) {
    m_log->clear();
    m_loggedLines = 0;
  }
  m_loggedRun = id;
  m_loggedFilter = filter;
  const int before = m_log->verticalScrollBar()->value();
  const auto snapshot = m_context.document.snapshot();
  for (; run != nullptr && m_loggedLines < run->log.size(); ++m_loggedLines) {
    const QString line = qs(run->log[m_loggedLines]);
    if (line.contains(filter, Qt::CaseInsensitive)) m_log->append(logLineHtml(line, snapshot.get()));
  }
  QScrollBar& bar = *m_log->verticalScrollBar();
  bar.setValue(m_follow->isChecked() ? bar.maximum() : before);
}

extern const DockForm kLogDock{"Log", "Ctrl+8", Qt::BottomDockWidgetArea,
                               [](const DockContext& context) -> Dock* { return new LogDock(context); }};

}  // namespace fusescope
