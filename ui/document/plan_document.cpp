#include "ui/document/plan_document.h"

#include <QFileInfo>
#include <QPointer>
#include <QSettings>
#include <QUndoCommand>
#include <optional>

#include "compilers/compile_network.h"
#include "ir/graph.h"
#include "planning/applicable_options.h"
#include "session/engine_prices.h"
#include "session/import_engine.h"
#include "session/open_artifact.h"
#include "ui/document/option_words.h"
#include "ui/document/qt_text.h"
#include "ui/jobs/job_runner.h"

namespace fusescope {

/// Undo and redo are the same exchange of the document's options with the stored ones.
class ChangeOptions : public QUndoCommand {
 public:
  ChangeOptions(PlanDocument& document, const QString& text, PlanOptions changed)
      : QUndoCommand(text), m_document(document), m_stored(std::move(changed)) {}
  void undo() override { exchange(); }
  const PlanOptions& stored() const { return m_stored; }
  void redo() override { exchange(); }

 private:
  void exchange() {
    const PlanOptions current = m_document.options();
    m_document.setOptions(m_stored);
    m_stored = current;
  }
  PlanDocument& m_document;
  PlanOptions m_stored;
};

namespace {

const QString kOpenTag = QStringLiteral("open");
const QString kPlanTag = QStringLiteral("plan");
const QString kTryTag = QStringLiteral("try directives");
const QString kMadeTag = QStringLiteral("show what was made");
constexpr int kMostRecentFiles = 8;

struct Opened {
  ArtifactKind kind = ArtifactKind::Model;
  ModelFile file;
  std::shared_ptr<const PlanSnapshot> snapshot;
  std::vector<InputOverride> inputs;
  QStringList dropped;
  std::optional<Run> engine{};  ///< set for a plan that was read from files of an engine
};

/// Returns the options without the answers of a compiler.
PlanOptions withoutAnswers(PlanOptions options) {
  options.support = nullptr;
  return options;
}

/// Returns the options that apply to the model, and adds a description of those that do not to `dropped`.
Result<PlanOptions> whatApplies(const std::string& path, const PlanOptions& options,
                                const std::vector<InputOverride>& inputs, const StopToken& stop, QStringList& dropped) {
  const auto model = TRY(openModel(path, inputs, stop));
  auto applicable = TRY(applicableOptions(*model, options, stop));
  for (const auto& [directive, why] : applicable.dropped)
    dropped << QStringLiteral("%1: %2").arg(qs(inWords(directive)), qs(why));
  return std::move(applicable.options);
}

/// Opens and plans the file. A plan or an engine file contains its own options.
Result<Opened> openAndPlan(const std::string& path, PlanOptions options, std::vector<InputOverride> inputs,
                           bool onlyWhatApplies, const StopToken& stop, const Progress& progress) {
  Opened opened{.kind = TRY(artifactKind(path))};
  if (opened.kind != ArtifactKind::Model) {
    options = PlanOptions();
    inputs.clear();
  } else if (onlyWhatApplies) {
    options = TRY(whatApplies(path, options, inputs, stop, opened.dropped));
  }
  const Artifact artifact = TRY(openArtifact(path, inputs, options, "native", stop, progress));
  opened.file = TRY(identify(artifact.plan->model->files));
  opened.inputs = opened.kind == ArtifactKind::Model ? inputs : givenExtents(artifact.plan->inputSpecs);
  progress("summarise", "");
  opened.snapshot = makeSnapshot(artifact.plan, nullptr);
  if (artifact.made != nullptr && artifact.made->placement) opened.engine = engineRun(artifact);
  return opened;
}

Result<std::shared_ptr<const PlanSnapshot>> planAgain(std::shared_ptr<const Model> model, const PlanOptions& options,
                                                      std::shared_ptr<const PlanSnapshot> before,
                                                      const StopToken& stop) {
  const auto prices = pricesFor("native", options.target, *model);
  const Plan* previous = before ? before->plan.get() : nullptr;
  const MappedFiles files = model->files;
  const Compiler* compiler = TRY(compilerFor(options));
  auto plan = makePlan(std::move(model), options, prices.get(), stop, previous);
  if (plan.ok()) plan = planSupported(*compiler, std::move(plan).value(), stop);
  TRY(checkStop(stop));
  TRY(checkIntact(files));  // otherwise the result could contain other weights
  return makeSnapshot(TRY(std::move(plan)), before.get());
}

}  // namespace

PlanDocument::PlanDocument(JobRunner& jobs, QObject* parent) : QObject(parent), m_jobs(jobs), m_undo(this) {}

void PlanDocument::open(const QString& path, const PlanOptions& options, const std::vector<InputOverride>& inputs,
                        bool whatApplies) {
  m_opening = true;
  emit openingStarted(path);
  const bool sameFile = path == m_path;
  // Progress is posted to the runner, which exists longer than its work. Only the GUI thread accesses the document.
  const Progress progress = [runner = &m_jobs, document = QPointer<PlanDocument>(this)](std::string_view phase,
                                                                                        std::string_view) {
    const auto report = [document, text = qs(phase)] {
      if (document) emit document->openingPhase(text);
    };
    QMetaObject::invokeMethod(runner, report, Qt::QueuedConnection);
  };
  const auto work = [file = path.toStdString(), options, inputs, whatApplies, progress](const StopToken& stop) {
    return openAndPlan(file, options, inputs, whatApplies, stop, progress);
  };
  m_jobs.run(kOpenTag, this, work, [this, path, sameFile](const Result<Opened>& opened) {
    m_opening = false;
    emit openingEnded();
    if (!opened.ok()) {
      if (!opened.error().cancelled) emit openFailed(path, problemText(opened.error()));
      return;
    }
    m_jobs.cancel(kPlanTag);
    m_jobs.cancel(kMadeTag);
    m_planning = false;
    m_planProblem.clear();
    m_snapshot = m_planned = opened.value().snapshot;
    m_model = unquantized(m_snapshot->plan->model);
    m_options = withoutAnswers(m_snapshot->plan->options);
    m_inputs = opened.value().inputs;
    m_path = path;
    m_kind = opened.value().kind;
    m_modelFile = opened.value().file;
    if (!sameFile) m_undo.clear();
    m_plannedIndex = m_undo.index();
    remember(path);
    emit graphChanged(nullptr);
    if (!opened.value().dropped.isEmpty()) emit optionsDropped(opened.value().dropped);
    emit modelChanged();
    emit optionsChanged();
    emit planChanged();
    if (opened.value().engine && !sameFile) emit engineOpened(*opened.value().engine);
  });
}

void PlanDocument::reload() {
  if (!m_path.isEmpty()) open(m_path, m_options, m_inputs, true);
}

void PlanDocument::cancelOpening() {
  if (!m_opening) return;
  m_jobs.cancel(kOpenTag);
  m_opening = false;
  emit openingCancelled();
  emit openingEnded();
}

void PlanDocument::cancelPlanning() {
  if (!m_planning) return;
  m_undo.setIndex(m_plannedIndex);
  // If the edits that led to the plan are no longer on the undo stack, going back is a new edit.
  if (m_planning) edit(QStringLiteral("Back to the plan on screen"), withoutAnswers(m_snapshot->plan->options));
}

void PlanDocument::edit(const QString& text, PlanOptions changed) {
  changed = withRangesAsAsked(std::move(changed), ranges());
  if (!m_model || changed == m_options) return;
  if (m_options.ranges != nullptr && changed.ranges == nullptr && m_calibrated == nullptr)
    setCalibrated(m_options.ranges);  // kept in case the user requests int8 again
  m_undo.push(new ChangeOptions(*this, text, std::move(changed)));
}

std::optional<PlanOptions> PlanDocument::optionsBeforeLastEdit() const {
  if (!m_undo.canUndo()) return std::nullopt;
  return static_cast<const ChangeOptions*>(m_undo.command(m_undo.index() - 1))->stored();
}

void PlanDocument::editDirectives(const QString& text, Directives changed) {
  PlanOptions options = m_options;
  options.directives = std::move(changed);
  edit(text, std::move(options));
}

void PlanDocument::tryDirectives(Directives changed, QObject* receiver, Tried done) {
  if (!m_model || !m_planned) return;
  PlanOptions options = m_options;
  options.directives = std::move(changed);
  options = withRangesAsAsked(std::move(options), ranges());
  const auto work = [model = m_model, options = std::move(options), before = m_planned](const StopToken& stop) {
    return planAgain(model, options, before, stop);
  };
  m_jobs.run(kTryTag, receiver, work, std::move(done));
}

void PlanDocument::cancelTry() {
  m_jobs.cancel(kTryTag);
}

void PlanDocument::setOptions(const PlanOptions& options) {
  m_options = options;
  const bool unplanned = m_planning || !m_planProblem.isEmpty();
  const bool there = unplanned && m_snapshot && withoutAnswers(m_snapshot->plan->options) == m_options;
  there ? keepPlan() : replan();
}

/// Keeps the plan on screen, because the options became equal to its options before another plan was made.
void PlanDocument::keepPlan() {
  m_jobs.cancel(kPlanTag);
  m_planning = false;
  m_planProblem.clear();
  emit optionsChanged();
  emit planChanged();
}

void PlanDocument::replan() {
  if (!m_model) return;
  m_planning = true;
  const auto work = [model = m_model, options = m_options, before = m_planned](const StopToken& stop) {
    return planAgain(model, options, before, stop);
  };
  m_jobs.run(kPlanTag, this, work, [this](const Result<std::shared_ptr<const PlanSnapshot>>& planned) {
    m_planning = false;
    if (!planned.ok()) {
      if (planned.error().cancelled) return;
      m_planProblem = problemText(planned.error());
      emit planFailed(m_planProblem);
      return;
    }
    m_jobs.cancel(kMadeTag);
    m_planProblem.clear();
    m_planned = planned.value();
    m_plannedIndex = m_undo.index();
    show(m_planned);
  });
  emit optionsChanged();
}

void PlanDocument::show(std::shared_ptr<const PlanSnapshot> snapshot) {
  const auto before = std::exchange(m_snapshot, std::move(snapshot));
  if (before && &before->graph() != &m_snapshot->graph()) emit graphChanged(&before->graph());
  emit planChanged();
}

void PlanDocument::setTarget(const std::string& target) {
  PlanOptions options = m_options;
  options.target = target;
  edit(QStringLiteral("Plan for %1").arg(qs(target)), std::move(options));
}

void PlanDocument::setCompiler(const Compiler& compiler) {
  PlanOptions options = m_options;
  const Compiler* before = findCompiler(options.compiler);
  const std::string target = compiler.target();
  if (!target.empty()) {
    if (!compiler.takesTarget(options.target)) options.target = target;
  } else if (before != nullptr && !before->target().empty()) {
    options.target = PlanOptions().target;  // the present target belongs to the previous compiler
  }
  // The present options belong to the previous compiler.
  if (options.compiler != compiler.name()) options.compilerOptions.clear();
  options.compiler = compiler.name();
  edit(QStringLiteral("Compile with %1").arg(qs(compiler.name())), std::move(options));
}

void PlanDocument::showMade(std::shared_ptr<const ReadBackPlan> made) {
  m_jobs.cancel(kMadeTag);
  if (!m_planned || m_snapshot->cover == (made ? std::shared_ptr<const Cover>(made) : m_planned->cover)) return;
  if (!made) return show(m_planned);
  if (made->model != m_planned->plan->model) return;
  const auto work = [planned = m_planned, made = std::move(made)](const StopToken&) {
    return makeSnapshot(planned->plan, planned.get(), made);
  };
  m_jobs.run(kMadeTag, this, work, [this](const std::shared_ptr<const PlanSnapshot>& shown) { show(shown); });
}

void PlanDocument::setPrecisions(std::vector<DataType> precisions) {
  const QString text = QStringLiteral("Use precision %1").arg(precisionsText(precisions));
  PlanOptions options = m_options;
  options.precisions = std::move(precisions);
  edit(text, std::move(options));
}

void PlanDocument::setCalibrated(std::shared_ptr<const Ranges> ranges) {
  if (ranges == m_calibrated) return;
  m_calibrated = std::move(ranges);
  emit calibratedChanged();
}

std::vector<std::string> PlanDocument::namesOf(const std::vector<NodeId>& nodes) const {
  std::vector<std::string> names;
  for (const NodeId node : nodes) {
    if (m_snapshot && m_snapshot->graph().has(node)) names.push_back(m_snapshot->graph().node(node).name);
  }
  return names;
}

void PlanDocument::pin(const std::vector<std::string>& names, DataType type, Strictness strictness) {
  editDirectives(QStringLiteral("Pin %1 to %2").arg(namesText(names), qs(type)),
                 withType(m_options.directives, names, DirectiveKind::Pin, type, strictness));
}

void PlanDocument::pinOutput(const std::vector<std::string>& names, DataType type, Strictness strictness) {
  editDirectives(QStringLiteral("Output of %1 as %2").arg(namesText(names), qs(type)),
                 withType(m_options.directives, names, DirectiveKind::PinOutput, type, strictness));
}

void PlanDocument::direct(const std::vector<std::string>& names, DirectiveKind kind, const std::string& rule) {
  QString text = qs(inWords({.kind = kind, .pattern = namesText(names).toStdString(), .rule = rule}));
  text[0] = text[0].toUpper();
  editDirectives(text, withKind(m_options.directives, names, kind, rule));
}

void PlanDocument::clearDirectives(const std::vector<std::string>& names) {
  editDirectives(QStringLiteral("Clear the directives of %1").arg(namesText(names)),
                 withoutNodes(m_options.directives, names));
}

QStringList PlanDocument::recentFiles() {
  QStringList existing;
  for (const QString& path : QSettings().value(QStringLiteral("recent")).toStringList()) {
    if (QFileInfo::exists(path)) existing << path;
  }
  return existing;
}

void PlanDocument::remember(const QString& path) {
  QSettings settings;
  QStringList recent = settings.value(QStringLiteral("recent")).toStringList();
  const QString absolute = QFileInfo(path).absoluteFilePath();
  recent.removeAll(absolute);
  recent.prepend(absolute);
  while (recent.size() > kMostRecentFiles) recent.removeLast();
  settings.setValue(QStringLiteral("recent"), recent);
}

}  // namespace fusescope
