#include "ui/compare/compare_sides.h"

#include "compilers/compile_network.h"
#include "planning/fused_node_facts.h"
#include "session/diff_input.h"
#include "session/engine_prices.h"
#include "session/open_model.h"
#include "ui/document/file_diff.h"
#include "ui/document/made_words.h"
#include "ui/document/qt_text.h"
#include "ui/document/runs.h"

namespace fusescope {
namespace {

const QString kRunPrefix = QStringLiteral("run:");

/// Returns the window's session with the parts that a side needs. Only runs that may be about this side are included.
std::shared_ptr<Session> sessionOf(const PlanDocument& document, const PlanOptions& options,
                                   const std::vector<InputOverride>& extents) {
  auto session = std::make_shared<Session>();
  session->model = document.modelFile();
  session->options = options;
  session->extents = extents;
  return session;
}

Result<std::shared_ptr<const Plan>> sidePlan(const SideSource& source, const StopToken& stop) {
  const PlanOptions& options = source.session->options;
  const Compiler* compiler = TRY(compilerFor(options));
  const auto prices = pricesFor("native", options.target, *source.network.model);
  auto plan = TRY(makePlan(source.network.model, options, prices.get(), stop, source.network.plan.get()));
  return planSupported(*compiler, std::move(plan), stop);
}

Result<Artifact> sideArtifact(const SideSource& source, const StopToken& stop) {
  if (source.file) return source.file->file;
  if (source.id.startsWith(kRunPrefix))
    return Artifact(*TRY(source.plans->find(PlannedRun(source.session->runs.front()), source.network, stop)));
  Artifact artifact;
  if (source.snapshot) {
    artifact.plan = source.snapshot->plan;
    const ReadBackPlan* made = source.snapshot->made();
    if (made != nullptr && source.id == sides::kScreen) {
      artifact.made = {source.snapshot->cover, made};
      artifact.plan = made->requested;
    }
  } else {
    artifact.plan = TRY(sidePlan(source, stop));
  }
  return artifact;
}

ShownTimes sideTimes(const DiffInput& input, const QString& title) {
  ShownTimes::Map times;
  for (const auto& [identity, time] : input.times)
    times[handleOf(identity.hex())] = {time.how == DiffTimeKind::Fitted ? TimeKind::Fitted : TimeKind::Measured,
                                       time.ms};
  ShownTimes shown(std::move(times));
  shown.made = shown.madeBriefly = title;
  return shown;
}

}  // namespace

QString sides::ofRun(const std::string& id) {
  return kRunPrefix + qs(id);
}

std::vector<SideChoice> sideChoices(const PlanDocument& document, const Runs& runs, const FileDiff& file) {
  std::vector<SideChoice> choices{{sides::kScreen, QStringLiteral("The plan on screen")}};
  if (const auto snapshot = document.snapshot(); snapshot && document.options().compiler != kOwnCompiler) {
    choices.front().title = QStringLiteral("On screen: %1").arg(coverWords(*snapshot->cover));
    choices.push_back({sides::kPrediction, QStringLiteral("Our prediction of these kernels")});
  }
  if (document.optionsBeforeLastEdit())
    choices.push_back({sides::kBefore, QStringLiteral("The plan before: %1").arg(document.undoStack().undoText())});
  choices.push_back({sides::kOriginal, QStringLiteral("The network in the file")});
  choices.push_back({sides::kBaseline, QStringLiteral("Float32, without directives")});
  if (!file.path().isEmpty())
    choices.push_back({sides::kFile, QStringLiteral("File %1").arg(file.path().section(QLatin1Char('/'), -2))});
  for (const Run& run : runs.all())
    if (run.hasEngine()) choices.push_back({sides::ofRun(run.id), Runs::title(run)});
  return choices;
}

SideSource sideSource(const QString& id, const PlanDocument& document, const Runs& runs, const FileDiff& file) {
  SideSource source{.id = id, .plans = runs.plans(), .network = runs.network()};
  if (const auto onScreen = document.snapshot()) source.modules = onScreen->modules;
  for (const SideChoice& choice : sideChoices(document, runs, file))
    if (choice.id == id) source.title = choice.title;
  if (source.title.isEmpty()) source.problem = QStringLiteral("This plan does not exist any more.");
  PlanOptions options = document.options();
  if (id == sides::kBefore) options = document.optionsBeforeLastEdit().value_or(options);
  if (id == sides::kBaseline) options = PlanOptions{.target = options.target};
  auto session = sessionOf(document, options, document.inputs());
  if (id == sides::kScreen || id == sides::kPrediction || id == sides::kOriginal) {
    source.snapshot = document.snapshot();
    if (document.planning()) source.problem = QStringLiteral("The plan is being made.");
  }
  if (id == sides::kFile) {
    source.file = file.compared();
    if (!source.file) source.problem = file.busy() ? QStringLiteral("The file is being opened.") : file.problem();
  }
  if (id.startsWith(kRunPrefix)) {
    if (const Run* run = runs.find(id.mid(kRunPrefix.size()).toStdString())) {
      session->options = run->options;
      session->runs = {*run};
    } else {
      source.problem = QStringLiteral("This run is not there any more.");
    }
  } else {
    runs.store(*session);
    session->options = options;
  }
  source.session = std::move(session);
  return source;
}

Result<std::shared_ptr<const PlanSide>> makeSide(const SideSource& source, const StopToken& stop) {
  if (!source.problem.isEmpty()) return Diagnostic{.message = source.problem.toStdString()};
  auto side = std::make_shared<PlanSide>();
  side->id = source.id;
  side->title = source.title;
  side->artifact = TRY(sideArtifact(source, stop));
  side->artifact.path = source.title.toStdString();
  if (!side->artifact.session) side->artifact.session = source.session;
  side->cover = side->artifact.made != nullptr ? std::shared_ptr<const Cover>(side->artifact.made)
                                               : std::shared_ptr<const Cover>(side->artifact.plan);
  side->input = diffInput(side->artifact);
  side->times = sideTimes(side->input, source.title);
  return std::shared_ptr<const PlanSide>(std::move(side));
}

Result<std::shared_ptr<const PairOfFile>> takeToFile(std::shared_ptr<const PlanSide>& a,
                                                     std::shared_ptr<const PlanSide>& b, const StopToken& stop) {
  const bool isA = a->id == sides::kOriginal, isB = b->id == sides::kOriginal;
  if (!isA && !isB) return std::shared_ptr<const PairOfFile>();
  if (isA && isB)
    return Diagnostic{.message = "both sides are the network in the file", .help = "Choose a plan for one of them."};
  const PlanSide& plan = isA ? *b : *a;
  FileNetwork file = TRY(openFileNetwork(*plan.artifact.plan, stop));
  TRY(checkStop(stop));
  InFileNodes in = TRY(inFileNodes(file, *plan.cover));
  const auto inFile = [](const PlanSide& side, std::shared_ptr<const Cover> cover, bool isFile) {
    auto taken = std::make_shared<PlanSide>(side);
    taken->cover = std::move(cover);
    taken->input.cover = taken->cover.get();
    if (isFile) {  // nothing in a file of a network runs
      taken->input.times.clear();
      taken->input.errors.clear();
      taken->times = {};
    }
    return taken;
  };
  a = inFile(*a, isA ? std::shared_ptr<const Cover>(in.alone) : in.cover, isA);
  b = inFile(*b, isB ? std::shared_ptr<const Cover>(in.alone) : in.cover, isB);
  return std::make_shared<const PairOfFile>(PairOfFile{std::move(file), std::move(in), isA});
}

}  // namespace fusescope
