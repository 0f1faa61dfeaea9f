#include "ui/docks/inspector_dock.h"

#include <QScrollBar>
#include <QVBoxLayout>
#include <algorithm>
#include <utility>

#include "ir/graph.h"
#include "planning/body_help.h"
#include "planning/fused_node_facts.h"
#include "session/artifact.h"
#include "session/engine_prices.h"
#include "ui/docks/error_html.h"
#include "ui/docks/range_html.h"
#include "ui/docks/run_html.h"
#include "ui/docks/source_html.h"
#include "ui/document/build_step.h"
#include "ui/document/directive_edits.h"
#include "ui/document/option_words.h"
#include "ui/document/qt_text.h"
#include "ui/document/target_words.h"

namespace fusescope {

namespace {

const QString kShow = QStringLiteral("show:");  ///< is followed by the id of a run

/// Returns the fix that, according to the plan, improves most about `value` with the fewest pins. It has no pins if
/// there is none.
OfferedFix firstFix(const std::shared_ptr<const Plan>& plan, ValueId value, Harm harm, const StopToken& stop) {
  const auto prices = pricesOf(*plan, "native");
  auto fixes = wideFixes(plan, value, harm, prices.get(), stop);
  if (!fixes.ok() || fixes.value().empty()) return {};
  WideFix& first = fixes.value().front();
  return {std::move(first.pins), std::move(first.effect)};
}

/// Returns what a run has found out about `value`: the pins that it tried, or that it found none. Returns nothing if it
/// did not try.
std::optional<OfferedFix> triedFix(const std::optional<Advice>& advice, const std::string& value) {
  if (!advice || advice->value != value || (advice->tried.empty() && !advice->pins.empty())) return {};
  const std::string tried = advice->tried.empty() ? std::string() : "; tried: " + advice->tried;
  return OfferedFix{advice->pins, advice->effect + tried};
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
  connect(&context.known, &KnownPlans::changed, this, &InspectorDock::refreshAll);
  connect(&context.runs, &Runs::shownChanged, this, &InspectorDock::refreshAll);
  connect(&context.runs, &Runs::settingsChanged, this, &InspectorDock::refreshAll);
  connect(&context.controller.compilers(), &Compilers::changed, this, &InspectorDock::refreshAll);
  connect(&context.controller, &RunController::activityChanged, this, [this] {
    if (std::exchange(m_busy, m_context.controller.busy()) != m_context.controller.busy()) refreshAll();
  });
  connect(&context.runs, &Runs::runChanged, this, [this](const QString& id) {
    if (const Run* shown = shownRun(id); shown != nullptr && !shown->working()) refreshAll();
  });
}

void InspectorDock::renew(Parts) {
  m_answers = {};
  show(nullptr);
  m_text->verticalScrollBar()->setValue(0);
  const auto snapshot = m_context.document.snapshot();
  if (!snapshot) return;
  const auto inside = snapshot->inside(m_context.selection.inside());
  const PlanSnapshot& of = inside ? *inside->body : *snapshot;
  const auto& nodes = inside ? inside->nodes : m_context.selection.nodes();
  if (nodes.size() == 1 || of.fusedWithExactly(nodes) != nullptr)
    workOut(of.plan, nodes, inside ? inside->place.bodies : BodyPath());
  if (!inside && nodes.size() == 1) m_context.known.ask();
}

void InspectorDock::show(const SelectionAnswers* answers) {
  const auto snapshot = m_context.document.snapshot();
  if (!snapshot) {
    m_text->clear();
    return;
  }
  const auto inside = snapshot->inside(m_context.selection.inside());
  QString text = inside ? textOf(*inside->body, inside->nodes, inside->place.bodies, answers)
                        : textOf(*snapshot, m_context.selection.nodes(), {}, answers);
  if (!inside)
    text = runText(m_context.selection.nodes(), answers) + text + knownText(m_context.selection.nodes()) +
           rangesHtml(*snapshot, m_context.selection.nodes(), m_context.theme());
  const int place = m_text->verticalScrollBar()->value();
  m_text->setHtml(text);
  m_text->verticalScrollBar()->setValue(place);
}

/// Returns what the displayed run says about the selected nodes, or the next step of the session if nothing is
/// selected.
QString InspectorDock::runText(const std::vector<NodeId>& nodes, const SelectionAnswers* answers) const {
  const Theme& theme = m_context.theme();
  const PlanSnapshot& snapshot = *m_context.document.snapshot();
  const auto failure = m_context.runs.failure();
  if (nodes.empty()) return nextStepHtml(m_context.runs, m_context.controller, m_context.document, theme);
  const bool here = failure && std::ranges::find(nodes, failure->node) != nodes.end();
  const bool one = nodes.size() == 1 || snapshot.fusedWithExactly(nodes) != nullptr;
  const QString remedy = one ? fixHtml(answers == nullptr ? nullptr : &answers->fix, theme) : QString();
  const QString failing = here ? failureHtml(m_context.runs, *failure, remedy, theme) : QString();
  return failing + errorsHtml(m_context.runs, snapshot, nodes, here ? QString() : remedy, theme);
}

/// Returns what each compiler made of the selected node, as far as runs of the session contain it.
QString InspectorDock::knownText(const std::vector<NodeId>& nodes) const {
  if (nodes.size() != 1) return {};
  return knownPlansText(*m_context.document.snapshot(), nodes.front(), m_context.known.all(), m_context.theme());
}

std::optional<InspectorDock::Wrong> InspectorDock::wrongOf(const std::vector<NodeId>& nodes) const {
  const PlanSnapshot& snapshot = *m_context.document.snapshot();
  const auto failure = m_context.runs.failure();
  if (failure && std::ranges::find(nodes, failure->node) != nodes.end()) {
    const auto value = snapshot.graph().findValue(failure->value);
    const Harm harm = failure->notFinite ? Harm::NotFinite : Harm::Inexact;
    if (value) return Wrong{*value, harm, triedFix(failure->advice, failure->value)};
  }
  const FusedNode* fused = nodes.empty() ? nullptr : snapshot.fusedOf(nodes.front());
  if (fused == nullptr || fused->outputs.empty()) return {};
  const ShownErrors errors = m_context.runs.layerErrors();
  const ShownError error = errors.find(handleOf(*fused));
  const ErrorLevel level = levelOf(error, &LocalAndCarried::local, errors.bound);
  if (error.kind != ErrorKind::Measured || !isWrong(level)) return {};
  const ValueId value = fused->outputs.front().value;
  const auto measured = m_context.runs.errorsOf(*m_context.runs.shown()).errors;
  return Wrong{value, level == ErrorLevel::NotFinite ? Harm::NotFinite : Harm::Inexact,
               triedFix(std::as_const(measured)->advice, snapshot.graph().value(value).name)};
}

std::string InspectorDock::wrongBefore(const std::vector<NodeId>& nodes) const {
  const FusedNode* fused = nodes.empty() ? nullptr : m_context.document.snapshot()->fusedOf(nodes.front());
  const auto failure = m_context.runs.failure();
  if (fused == nullptr || !failure) return {};
  const ShownErrors errors = m_context.runs.layerErrors();
  const ShownError error = errors.find(handleOf(*fused));
  const auto wrong = [&](Which which) { return isWrong(levelOf(error, which, errors.bound)); };
  const bool victim = error.kind == ErrorKind::Measured && !wrong(&LocalAndCarried::local);
  return victim && wrong(&LocalAndCarried::carried) ? failure->value : std::string();
}

ShownKernelTime InspectorDock::timeOf(const FusedNode& fused, const BodyPath& path) const {
  const ShownTimes times = m_context.runs.layerTimes();
  const auto found = times.find(path.exactly(handleOf(fused)));
  if (found != times.end()) return {found->second, times.made};
  const ShownTime untimed =
      path.isNetwork() ? timeWithoutRun(*m_context.document.snapshot()->cover, fused) : ShownTime();
  return untimed.kind == TimeKind::Reported ? ShownKernelTime{untimed, {}} : ShownKernelTime();
}

QString InspectorDock::textOf(const PlanSnapshot& snapshot, const std::vector<NodeId>& nodes, const BodyPath& path,
                              const SelectionAnswers* answers) const {
  const Theme& theme = m_context.theme();
  const FusedNode* named = path.isNetwork() ? snapshot.fusedWith(m_context.selection.kernel()) : nullptr;
  if (named != nullptr) return fusedText(snapshot, *named, timeOf(*named, path), answers, theme);
  if (nodes.empty()) return modelText(snapshot, targetText(*snapshot.cover, m_context.controller.compilers()), theme);
  const FusedNode* kernel = snapshot.fusedWithExactly(nodes);
  const Segment* segment = snapshot.segmentOf(nodes);
  if (nodes.size() > 1 && kernel == nullptr)
    return segment ? segmentText(snapshot, *segment, timeOf(*segment), theme) : severalText(snapshot, nodes, theme);
  const FusedNode* fused = nodes.size() == 1 ? snapshot.fusedOf(nodes.front()) : kernel;
  const ShownKernelTime time = fused == nullptr ? ShownKernelTime() : timeOf(*fused, path);
  const QString text = nodes.size() == 1 ? nodeText(snapshot, nodes.front(), time, answers, theme)
                                         : fusedText(snapshot, *fused, time, answers, theme);
  return segment ? text + segmentFactsText(snapshot, *segment, timeOf(*segment), theme) : text;
}

SegmentTime InspectorDock::timeOf(const Segment& segment) const {
  const PlanSnapshot& snapshot = *m_context.document.snapshot();
  SegmentTime time;
  for (const FusedNode& fused : snapshot.cover->fusedNodes) {
    if (fused.segment != segment.id) continue;
    const ShownKernelTime known = timeOf(fused, {});
    if (known.measured())
      time.ms = time.ms.value_or(0) + known.time.ms;
    else
      ++time.unknown;
  }
  time.isMeasured = time.ms.has_value();
  return time.ms ? time : snapshot.segmentFacts[segment.id.index].time;
}

/// `cover` has the kernels that were timed: those of our plan, or those that another compiler made of it. Of several
/// kernels that contain a node, the first one with a time counts.
std::optional<TimeShare> InspectorDock::shareOf(const Cover& cover, const std::vector<NodeId>& nodes,
                                                const ShownTimes& times) {
  if (nodes.empty() || times.empty()) return {};
  auto own = times.end();
  for (const FusedNodeId kernel : kernelsOf(cover, nodes.front()))
    if (own == times.end()) own = times.find(handleOf(cover.fusedNodes[kernel.index]));
  if (own == times.end() || own->second.ms <= 0) return {};
  TimeShare share;
  double all = 0;
  for (const FusedNode& other : cover.fusedNodes) {
    const auto found = times.find(handleOf(other));
    if (found == times.end() || found->second.ms <= 0) continue;
    all += found->second.ms;
    ++share.timedKernels;
    share.slowerKernels += found->second.ms > own->second.ms ? 1 : 0;
  }
  share.part = own->second.ms / all;
  return share;
}

void InspectorDock::workOut(std::shared_ptr<const Plan> plan, const std::vector<NodeId>& of, const BodyPath& path) {
  const auto wrong = path.isNetwork() ? wrongOf(of) : std::nullopt;
  const std::string before = path.isNetwork() && !wrong ? wrongBefore(of) : std::string();
  m_context.jobs.run(
      QStringLiteral("what_would_help"), this,
      [plan, of, path, wrong, before, cover = m_context.document.snapshot()->cover,
       times = m_context.runs.layerTimes()](const StopToken& stop) {
        SelectionAnswers answers{
            .lostWeights = lostWeights(*plan, of), .wrong = wrong.has_value(), .wrongBefore = before};
        if (path.isNetwork()) answers.share = shareOf(*cover, of, times);
        if (of.size() == 1) answers.help = wouldHelpInBody(*plan, of.front(), path);
        if (wrong) answers.fix = wrong->tried ? *wrong->tried : firstFix(plan, wrong->value, wrong->harm, stop);
        return answers;
      },
      [this, snapshot = m_context.document.snapshot(), nodes = m_context.selection.nodes(),
       inside = m_context.selection.inside()](const SelectionAnswers& answers) {
        const Selection& now = m_context.selection;
        if (m_context.document.snapshot() != snapshot || now.nodes() != nodes || now.inside() != inside) return;
        m_answers = answers;
        show(&m_answers);
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
  } else if (link.scheme() == QLatin1String("do")) {
    act(target);
  } else if (link.scheme() == QLatin1String("help")) {
    applyHelp(target.toUInt());
  } else if (link.scheme() == QLatin1String("source")) {
    openSource(target);
  }
}

void InspectorDock::act(const QString& what) {
  PlanDocument& document = m_context.document;
  if (what == QLatin1String("build")) {
    buildByStep(document, m_context.controller);
  } else if (what == QLatin1String("evaluate")) {
    m_context.controller.evaluate();
  } else if (what.startsWith(kShow)) {
    m_context.runs.show(what.mid(kShow.size()).toStdString());
  } else if (what == QLatin1String("both")) {
    m_context.controller.buildBoth();
  } else if (what == QLatin1String("wrong")) {
    m_context.act("go_to_wrong");
  } else if (what == QLatin1String("tune")) {
    m_context.act("tune");
  } else if (what == QLatin1String("fix") && !m_answers.fix.pins.empty()) {
    const Directives& pins = m_answers.fix.pins;
    std::vector<std::string> names;
    for (const Directive& pin : pins) names.push_back(pin.pattern);
    Directives changed = document.directives();
    changed.insert(changed.end(), pins.begin(), pins.end());
    assignIds(changed);
    document.editDirectives(QStringLiteral("Pin %1 to %2").arg(namesText(names), qs(pins.front().type)),
                            std::move(changed));
  } else if (what == QLatin1String("clear")) {
    document.clearDirectives(document.namesOf(m_context.selection.nodes()));
  } else if (what == QLatin1String("cpu")) {
    document.setTarget("cpu");
  } else if (what == QLatin1String("runnable")) {
    m_context.act("make_runnable");
  } else if (what == QLatin1String("export")) {
    m_context.act("export");
  }
}

void InspectorDock::applyHelp(std::size_t index) {
  if (index >= m_answers.help.size()) return;
  const WhatIf whatIf = m_answers.help[index];
  const Directives& all = m_context.document.directives();
  // A directive that exists already is removed, as the link offers.
  const bool present = std::find(all.begin(), all.end(), whatIf.directive) != all.end();
  m_context.document.editDirectives(
      inWindowWords(whatIf), present ? withoutId(all, whatIf.directive.id) : withDirective(all, whatIf.directive));
}

extern const DockForm kInspectorDock{"Inspector", "Ctrl+2", Qt::RightDockWidgetArea,
                                     [](const DockContext& context) -> Dock* { return new InspectorDock(context); }};

}  // namespace fusescope
