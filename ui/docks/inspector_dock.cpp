#include "ui/docks/inspector_dock.h"

#include <QScrollBar>
#include <QVBoxLayout>
#include <algorithm>

#include "planning/body_help.h"
#include "ui/docks/error_html.h"
#include "ui/docks/range_html.h"
#include "ui/docks/run_html.h"
#include "ui/document/qt_text.h"

namespace fusescope {

namespace {

/// Whether they are just what one kernel runs.
bool isKernel(const PlanSnapshot& snapshot, const std::vector<NodeId>& nodes) {
  const FusedNode* fused = nodes.empty() ? nullptr : snapshot.fusedOf(nodes.front());
  return fused != nullptr && fused->nodes == nodes;
}

}  // namespace

InspectorDock::InspectorDock(const DockContext& context)
    : Dock(context), m_text(new PictureBrowser([this](const QUrl& link, double ratio) {
        const auto snapshot = m_context.document.snapshot();
        return snapshot ? histogramPicture(*snapshot->plan, link, ratio, m_context.theme()) : QVariant();
      })) {
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->addWidget(m_text);
  m_text->setOpenLinks(false);
  m_text->document()->setDocumentMargin(12);
  m_text->setAccessibleName(QStringLiteral("Inspector"));
  m_text->setPlaceholderText(QStringLiteral("Open a model to inspect it."));
  connect(m_text, &QTextBrowser::anchorClicked, this, &InspectorDock::follow);
  connect(&context.document, &PlanDocument::planChanged, this, &InspectorDock::refreshAll);
  connect(&context.selection, &Selection::changed, this, &InspectorDock::refreshAll);
  connect(&context.runs, &Runs::shownChanged, this, &InspectorDock::refreshAll);
  connect(&context.runs, &Runs::settingsChanged, this, &InspectorDock::refreshAll);
  connect(&context.runs, &Runs::runChanged, this, [this](const QString& id) {
    if (const Run* shown = shownRun(id); shown != nullptr && !shown->working()) refreshAll();
  });
}

void InspectorDock::renew(Parts) {
  m_workedOut = {};
  show(nullptr);
  m_text->verticalScrollBar()->setValue(0);
  const auto snapshot = m_context.document.snapshot();
  if (!snapshot) return;
  const auto inside = snapshot->inside(m_context.selection.inside());
  const PlanSnapshot& of = inside ? *inside->body : *snapshot;
  const auto& nodes = inside ? inside->nodes : m_context.selection.nodes();
  if (nodes.size() == 1 || isKernel(of, nodes)) workOut(of.plan, nodes, inside ? inside->prefix : "");
}

void InspectorDock::show(const WorkedOut* workedOut) {
  const auto snapshot = m_context.document.snapshot();
  if (!snapshot) {
    m_text->clear();
    return;
  }
  const auto inside = snapshot->inside(m_context.selection.inside());
  QString text = inside ? textOf(*inside->body, inside->nodes, workedOut)
                        : textOf(*snapshot, m_context.selection.nodes(), workedOut);
  if (!inside)
    text = runText(m_context.selection.nodes()) + text +
           rangesHtml(*snapshot, m_context.selection.nodes(), m_context.theme());
  const int place = m_text->verticalScrollBar()->value();
  m_text->setHtml(text);
  m_text->verticalScrollBar()->setValue(place);
}

/// What the shown run says of what is selected; with nothing selected, where the session stands.
QString InspectorDock::runText(const std::vector<NodeId>& nodes) const {
  const Theme& theme = m_context.theme();
  const auto failure = m_context.runs.failure();
  if (nodes.empty()) return nextStepHtml(m_context.runs, theme);
  const bool here = failure && std::ranges::find(nodes, failure->node) != nodes.end();
  const QString failing = here ? failureHtml(*failure, *m_context.runs.shown(), theme) : QString();
  return failing + errorsHtml(m_context.runs, *m_context.document.snapshot(), nodes, theme);
}

QString InspectorDock::textOf(const PlanSnapshot& snapshot, const std::vector<NodeId>& nodes,
                              const WorkedOut* workedOut) const {
  const Theme& theme = m_context.theme();
  if (nodes.empty()) return modelText(snapshot, theme);
  const FusedNode* fused = snapshot.fusedOf(nodes.front());
  const Segment* segment = snapshot.segmentOf(nodes);
  if (nodes.size() > 1 && !isKernel(snapshot, nodes))
    return segment ? segmentText(snapshot, *segment, theme) : severalText(snapshot, nodes, theme);
  const QString text = nodes.size() == 1 ? nodeText(snapshot, nodes.front(), workedOut, theme)
                                         : fusedText(snapshot, *fused, workedOut, theme);
  return segment ? text + bordersText(snapshot, *segment, theme) : text;
}

void InspectorDock::workOut(std::shared_ptr<const Plan> plan, const std::vector<NodeId>& of,
                            const std::string& prefix) {
  m_context.jobs.run(
      QStringLiteral("what_would_help"), this,
      [plan, of, prefix](const StopToken&) {
        WorkedOut answers{.lostWeights = lostWeights(*plan, of)};
        if (of.size() == 1) answers.help = wouldHelpInBody(*plan, of.front(), prefix);
        return answers;
      },
      [this, snapshot = m_context.document.snapshot(), nodes = m_context.selection.nodes(),
       inside = m_context.selection.inside()](const WorkedOut& answers) {
        const Selection& now = m_context.selection;
        if (m_context.document.snapshot() != snapshot || now.nodes() != nodes || now.inside() != inside) return;
        m_workedOut = answers;
        show(&m_workedOut);
      });
}

void InspectorDock::follow(const QUrl& link) {
  const QString target = QUrl::fromPercentEncoding(link.path(QUrl::FullyEncoded).toUtf8());
  if (link.scheme() == QLatin1String("node")) {
    goTo(m_context, target, this);
  } else if (link.scheme() == QLatin1String("remove")) {
    const Directives& all = m_context.document.directives();
    for (const Directive& directive : all) {
      if (qs(directive.id) != target) continue;
      m_context.document.editDirectives(QStringLiteral("Remove “%1”").arg(qs(inWords(directive))),
                                        withoutId(all, directive.id));
      return;
    }
  } else if (link.scheme() == QLatin1String("pin")) {
    m_context.document.pin({target.toStdString()}, DataType::F32, Strictness::Prefer);
  } else if (link.scheme() == QLatin1String("do")) {
    act(target);
  } else if (link.scheme() == QLatin1String("help")) {
    applyHelp(target.toUInt());
  }
}

void InspectorDock::act(const QString& what) {
  PlanDocument& document = m_context.document;
  if (what == QLatin1String("build")) {
    m_context.controller.build();
  } else if (what == QLatin1String("evaluate")) {
    m_context.controller.evaluate();
  } else if (what == QLatin1String("pin")) {
    document.pin(document.namesOf(m_context.selection.nodes()), DataType::F32, Strictness::Prefer);
  }
}

void InspectorDock::applyHelp(std::size_t index) {
  if (index >= m_workedOut.help.size()) return;
  const WhatIf whatIf = m_workedOut.help[index];
  const Directives& all = m_context.document.directives();
  // A directive that is there already is offered for removal: "without --pin …".
  const bool present = std::find(all.begin(), all.end(), whatIf.directive) != all.end();
  m_context.document.editDirectives(
      qs(whatIf.change), present ? withoutId(all, whatIf.directive.id) : withDirective(all, whatIf.directive));
}

extern const DockForm kInspectorDock{"Inspector", "Ctrl+2", Qt::RightDockWidgetArea,
                                     [](const DockContext& context) -> Dock* { return new InspectorDock(context); }};

}  // namespace fusescope
