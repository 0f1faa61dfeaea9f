#include "ui/docks/build_dock.h"

#include <QFrame>
#include <QHBoxLayout>
#include <QRegularExpression>
#include <QScrollArea>
#include <QTime>
#include <QUrl>
#include <QVBoxLayout>

#include "ui/docks/dock_widgets.h"
#include "ui/docks/inspector_html.h"
#include "ui/document/qt_text.h"
#include "ui/models/contents.h"

namespace fusescope {

namespace {

using State = EngineSlot::State;
constexpr int kMostLogLines = 2000;

}  // namespace

BuildDock::BuildDock(const DockContext& context, QWidget* parent)
    : QWidget(parent),
      m_context(context),
      m_both(new QPushButton(QStringLiteral("Build both and compare"))),
      m_cancel(new QPushButton(QStringLiteral("Cancel"))),
      m_backend(new QComboBox),
      m_threads(new QSpinBox),
      m_problem(new QLabel),
      m_log(new QTextBrowser) {
  m_build = {new QPushButton(QStringLiteral("Build as A")), new QPushButton(QStringLiteral("Build as B"))};
  m_both->setToolTip(QStringLiteral("A: float32, no directives. B: as it stands now. Then both are compared."));
  m_backend->addItems({QStringLiteral("native"), QStringLiteral("reference")});
  m_backend->setToolTip(
      QStringLiteral("native: Fusescope's own engine. reference: one plain kernel per operator, the oracle."));
  m_threads->setRange(0, 256);
  m_threads->setSpecialValueText(QStringLiteral("all threads"));
  m_threads->setSuffix(QStringLiteral(" threads"));
  m_problem->setForegroundRole(QPalette::PlaceholderText);
  m_problem->setWordWrap(true);
  auto* row = toolRow({m_build[0], m_build[1], m_both, m_cancel, m_backend, m_threads, m_problem}, this);
  static_cast<QHBoxLayout*>(row->layout())->setStretch(6, 1);

  auto* cards = new QWidget;
  auto* cardLayout = new QHBoxLayout(cards);
  cardLayout->setContentsMargins(8, 0, 0, 8);
  for (QLabel*& slot : m_slots) {
    slot = new QLabel;
    slot->setTextFormat(Qt::RichText);
    slot->setWordWrap(true);
    slot->setAlignment(Qt::AlignTop | Qt::AlignLeft);
    slot->setMargin(10);
    slot->setMinimumWidth(170);
    slot->setAutoFillBackground(true);
    slot->setBackgroundRole(QPalette::Button);
    slot->setTextInteractionFlags(Qt::TextSelectableByMouse);
    auto* scroll = new QScrollArea;
    scroll->setWidget(slot);
    scroll->setWidgetResizable(true);
    scroll->setFrameShape(QFrame::NoFrame);
    cardLayout->addWidget(scroll, 1);
  }
  m_log->setOpenLinks(false);
  m_log->document()->setMaximumBlockCount(kMostLogLines);
  m_log->document()->setDocumentMargin(8);
  m_log->setFont(monoFont());
  m_log->setPlaceholderText(QStringLiteral("What the worker says appears here."));
  m_log->setAccessibleName(QStringLiteral("Build log"));
  auto* lower = new QHBoxLayout;
  lower->setSpacing(8);
  lower->addWidget(cards, 5);
  lower->addWidget(m_log, 4);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(0);
  layout->addWidget(row);
  layout->addLayout(lower, 1);

  auto& builds = context.builds;
  for (const int index : {0, 1}) {
    connect(m_build[static_cast<std::size_t>(index)], &QPushButton::clicked, this,
            [&builds, index] { builds.build(index); });
  }
  connect(m_both, &QPushButton::clicked, &builds, &BuildController::buildBoth);
  connect(m_cancel, &QPushButton::clicked, &builds, &BuildController::cancel);
  connect(m_backend, &QComboBox::currentTextChanged, this,
          [&builds](const QString& backend) { builds.settings.backend = backend; });
  connect(m_threads, qOverload<int>(&QSpinBox::valueChanged), this,
          [&builds](int threads) { builds.settings.threads = threads; });
  connect(m_log, &QTextBrowser::anchorClicked, this, [this](const QUrl& link) {
    goTo(m_context, QUrl::fromPercentEncoding(link.path(QUrl::FullyEncoded).toUtf8()), this);
  });
  connect(&builds, &BuildController::slotChanged, this, &BuildDock::refresh);
  connect(&builds, &BuildController::activityChanged, this, &BuildDock::refresh);
  connect(&builds, &BuildController::logged, this, &BuildDock::appendLog);
  connect(&context.document, &PlanDocument::planChanged, this, &BuildDock::refresh);
  connect(&m_clock, &QTimer::timeout, this, &BuildDock::refresh);
  m_clock.setInterval(250);
  refresh();
}

void BuildDock::refresh() {
  const auto& builds = m_context.builds;
  const QString refusal = builds.buildRefusal();
  for (QPushButton* button : {m_build[0], m_build[1], m_both}) {
    button->setEnabled(refusal.isEmpty());
    if (button != m_both)
      button->setToolTip(refusal.isEmpty() ? QStringLiteral("Build the plan as it stands now") : refusal);
  }
  m_cancel->setEnabled(builds.busy());
  m_problem->setText(
      builds.busy() ? QStringLiteral("%1 s").arg(static_cast<double>(builds.elapsedMs()) / 1000, 0, 'f', 1) : refusal);
  if (builds.busy() && !m_clock.isActive()) m_clock.start();
  if (!builds.busy()) m_clock.stop();
  for (const int index : {0, 1}) m_slots[static_cast<std::size_t>(index)]->setText(slotText(index));
}

QString BuildDock::phasesText(const EngineSlot& slot) const {
  const Theme& theme = m_context.theme();
  QString rows;
  for (std::size_t i = 0; i < slot.phases.size(); ++i) {
    const EngineSlot::Phase& phase = slot.phases[i];
    const bool running = i + 1 == slot.phases.size() && (slot.state == State::Building || slot.state == State::Timing);
    const QString last = phase.lastMs ? QStringLiteral("before %1").arg(msText(phase.lastMs)) : QString();
    rows += QStringLiteral(
                "<tr><td style='padding-right:12px'>%1</td><td align='right' style='padding-right:12px'>%2</td><td "
                "style='color:%3'>%4</td></tr>")
                .arg(phase.name.toHtmlEscaped(), running ? QStringLiteral("…") : msText(phase.ms), theme.dimText.name(),
                     last);
  }
  return rows.isEmpty() ? QString() : QStringLiteral("<table cellspacing='0'>%1</table>").arg(rows);
}

QString BuildDock::slotText(int index) const {
  const Theme& theme = m_context.theme();
  const EngineSlot& slot = m_context.builds.slot(index);
  QString text = QStringLiteral("<p style='margin:0 0 4px 0'><b>%1</b></p>")
                     .arg(m_context.builds.slotTitle(index).toHtmlEscaped());
  const auto dim = [&](const QString& words) {
    return QStringLiteral("<span style='color:%1'>%2</span>").arg(theme.dimText.name(), words);
  };
  switch (slot.state) {
    case State::Empty:
      return text + dim(index == 0 ? QStringLiteral("empty · the engine to compare with")
                                   : QStringLiteral("empty · the engine with your pins"));
    case State::Building:
      text += dim(QStringLiteral("building …"));
      break;
    case State::Timing:
      text += dim(QStringLiteral("timing …"));
      break;
    case State::Ready: {
      const auto median = numberIn(slot.time, "median_ms");
      if (median) {
        text += QStringLiteral("<span style='font-size:large'><b>%1</b></span> median").arg(msText(median));
        if (slot.time.value("quiet", true) == false)
          text +=
              QStringLiteral(" <span style='color:%1'>⚠ the machine was not quiet</span>").arg(theme.warning.name());
      } else {
        const std::string why = textIn(slot.time, "unavailable_reason");
        text += QStringLiteral("<span style='color:%1'>time unknown: %2</span>")
                    .arg(theme.warning.name(), why.empty() ? QStringLiteral("not measured") : html(why));
      }
      text += QStringLiteral("<br>") + dim(QStringLiteral("%1 regions, %2 distinct · %3")
                                               .arg(slot.build.value("regions", std::int64_t{0}))
                                               .arg(slot.build.value("distinct", std::int64_t{0}))
                                               .arg(bytesText(slot.build.value("bytes", std::int64_t{0}))));
      break;
    }
    case State::Failed:
      text +=
          QStringLiteral("<span style='color:%1'>✗ %2</span>").arg(theme.error.name(), slot.problem.toHtmlEscaped());
      break;
    case State::Cancelled:
      text += dim(slot.problem.toHtmlEscaped());
      break;
  }
  return text + phasesText(slot);
}

QString BuildDock::withLinks(const QString& line) const {
  const auto snapshot = m_context.document.snapshot();
  QString out;
  static const QRegularExpression kSpaces(QStringLiteral("(?<=\\s)|(?=\\s)|(?=[,;:]\\s)"));
  for (const QString& word : line.split(kSpaces)) {
    const bool node = snapshot && !word.trimmed().isEmpty() && snapshot->graph().findNode(word.toStdString());
    out += node ? nodeLink(word.toStdString()) : word.toHtmlEscaped();
  }
  return out;
}

void BuildDock::appendLog(const QString& line) {
  m_log->append(QStringLiteral("<span style='color:%1'>%2</span>&nbsp; %3")
                    .arg(m_context.theme().dimText.name(), QTime::currentTime().toString(QStringLiteral("HH:mm:ss")),
                         withLinks(line)));
}

}  // namespace fusescope
