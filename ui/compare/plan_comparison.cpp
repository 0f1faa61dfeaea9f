#include "ui/compare/plan_comparison.h"

#include <string_view>
#include <unordered_map>
#include <utility>

#include "diff/diff_plans.h"
#include "diff/fusion_words.h"
#include "planning/fused_node_facts.h"
#include "planning/read_back/read_back_plan.h"
#include "session/engine_prices.h"
#include "ui/canvas/dot_helper.h"
#include "ui/canvas/layout_runner.h"
#include "ui/document/file_diff.h"
#include "ui/document/option_words.h"
#include "ui/document/plan_document.h"
#include "ui/document/qt_text.h"
#include "ui/document/runs.h"
#include "ui/jobs/discard.h"
#include "ui/jobs/job_runner.h"

namespace fusescope {
namespace {

const QString kPairTag = QStringLiteral("compare two plans");
const QString kCauseTag = QStringLiteral("find what caused differences");
const QString kSceneTag = QStringLiteral("lay two plans out");

struct PairAndScenes {
  std::shared_ptr<const ComparedPair> pair;
  std::shared_ptr<const ComparedScenes> scenes;
};

using Scenes = Result<std::shared_ptr<const ComparedScenes>>;

/// Returns the blocks of the union, if both sides have its nodes. They are those of the network on screen if the union
/// has its model.
std::shared_ptr<const ModuleTree> modulesOf(const UnionCover& both, const SideSource& source) {
  if (!both.oneGraph) return nullptr;
  const Plan* onScreen = source.network.plan.get();
  if (onScreen != nullptr && onScreen->model == both.cover->model) return source.modules;
  return std::make_shared<const ModuleTree>(moduleTreeOf(*both.cover->model));
}

Scenes scenesOf(const ComparedPair& pair, const std::optional<OpenState>& open, const CanvasFonts& fonts,
                LaidOutLevels& levels, const StopToken& stop) {
  const Compared compared{pair.both,     pair.parts,
                          pair.a->input, pair.b->input,
                          pair.groups,   pair.file == nullptr ? std::nullopt : std::optional(pair.file->isA)};
  const std::scoped_lock lock(levels.mutex);
  DotHelper dot(stop, LayoutRunner::kMostForDotMs);
  const LayoutOptions options{
      .dot = [&](const LevelGraph& level) { return dot.layOut(level); }, .cache = &levels.cache, .stop = stop};
  return comparedScenes(compared, open ? *open : openWhereDifferent(pair.both, pair.parts, pair.room), fonts, options);
}

/// Adds to each changed fate of a file's node the reason why the node was removed from the network.
void addReasons(const PairOfFile& pair, PlanDiff& diff) {
  std::unordered_map<std::string_view, const FileNodeFate*> byName;
  for (const FileNodeFate& node : pair.in.nodes)
    byName.emplace(pair.file.model->origins[node.origin.index].name, &node);
  for (FateChange& change : diff.fates)
    if (const auto node = byName.find(change.node); node != byName.end() && !node->second->why.empty())
      change.because = {node->second->why};
}

/// Adds descriptions such as "two nodes → one kernel: Relu merged in" or "folded".
void tellOfFile(const PairOfFile& pair, std::vector<DifferenceGroup>& groups) {
  for (DifferenceGroup& group : groups) {
    if (group.topic == DifferenceTopic::Fate) {
      const std::string arrow = " → ";
      const std::size_t at = group.what.find(arrow);
      group.what = pair.isA ? group.what.substr(at + arrow.size()) : group.what.substr(0, at);
    }
    if (group.topic != DifferenceTopic::Fusion) continue;
    const DifferenceSite& site = group.sites.front();
    group.what = nodesToKernelsText(pair.isA ? site.a.size() : site.b.size(), pair.isA ? site.b.size() : site.a.size());
    if (pair.isA && !group.detail.empty()) group.what += ": " + group.detail;
  }
}

Result<PairAndScenes> comparePair(const SideSource& a, const SideSource& b, const QSizeF& room,
                                  const std::optional<OpenState>& open, const CanvasFonts& fonts, LaidOutLevels& levels,
                                  const StopToken& stop) {
  auto pair = std::make_shared<ComparedPair>();
  pair->a = TRY(makeSide(a, stop));
  TRY(checkStop(stop));
  pair->b = TRY(makeSide(b, stop));
  TRY(checkStop(stop));
  pair->file = TRY(takeToFile(pair->a, pair->b, stop));
  pair->both = TRY(unionCover(pair->a->cover, pair->b->cover));
  pair->parts = std::make_shared<const CoverParts>(pair->both.cover, fonts, modulesOf(pair->both, b));
  pair->room = room;
  for (const FusedNode& fused : pair->both.cover->fusedNodes) pair->byHandle.emplace(handleOf(fused), fused.id.index);
  pair->diff = changesBetween(pair->a->input, pair->b->input);
  TRY(checkStop(stop));
  if (pair->file != nullptr) addReasons(*pair->file, pair->diff);
  pair->groups = groupDifferences(pair->a->input, pair->b->input, pair->diff);
  if (pair->file != nullptr) tellOfFile(*pair->file, pair->groups);
  pair->causesFound = pair->file != nullptr;
  auto scenes = TRY(scenesOf(*pair, open, fonts, levels, stop));
  return PairAndScenes{std::move(pair), std::move(scenes)};
}

}  // namespace

PlanComparison::PlanComparison(PlanDocument& document, Runs& runs, FileDiff& file, JobRunner& jobs, QObject* parent)
    : QObject(parent),
      m_document(document),
      m_runs(runs),
      m_file(file),
      m_jobs(jobs),
      m_fonts(std::make_shared<CanvasFonts>()),
      m_levels(std::make_shared<LaidOutLevels>()) {
  const auto follow = [this](const QString& side) {
    if (m_active && (m_a == side || m_b == side)) renew();
  };
  connect(&document, &PlanDocument::planChanged, this, [this, follow] {
    if (!m_active) return;
    emit choicesChanged();
    if (!m_isChosen) chooseUsual();
    const auto isOfPlan = [](const QString& side) {
      return side == sides::kScreen || side == sides::kPrediction || side == sides::kBefore ||
             side == sides::kBaseline || side == sides::kOriginal;
    };
    if (isOfPlan(m_a) || isOfPlan(m_b)) renew();
  });
  connect(&document, &PlanDocument::modelChanged, this, [this] {
    discard(m_pair);
    discard(m_scenes);
    m_isChosen = false;
    chooseUsual();
  });
  connect(&file, &FileDiff::changed, this, [this, follow] {
    if (m_active) emit choicesChanged();
    follow(sides::kFile);
  });
  connect(&runs, &Runs::runsChanged, this, [this] {
    if (m_active) emit choicesChanged();
  });
  connect(&runs, &Runs::runChanged, this, [this, follow](const QString& id) {
    const Run* run = m_runs.find(id.toStdString());
    if (run != nullptr && !run->working()) follow(sides::ofRun(run->id));
  });
}

void PlanComparison::setActive(bool active) {
  if (std::exchange(m_active, active) == active) return;
  if (!active) {
    m_jobs.cancel(kPairTag);
    m_jobs.cancel(kCauseTag);
    m_jobs.cancel(kSceneTag);
    m_busy = false;
    return;
  }
  if (!m_isChosen) chooseUsual();
  emit choicesChanged();
  renew();
}

void PlanComparison::choose(const QString& a, const QString& b) {
  m_isChosen = true;
  set(a, b);
}

void PlanComparison::set(const QString& a, const QString& b) {
  if (a == m_a && b == m_b) return;
  m_a = a;
  m_b = b;
  if (m_active) renew();
}

void PlanComparison::chooseUsual() {
  const Run* shown = m_runs.shown();
  const Run* with = m_runs.comparedWith();
  if (shown != nullptr && with != nullptr && shown != with && shown->hasEngine() && with->hasEngine() &&
      m_runs.ofThisPlan(*shown))
    return set(sides::ofRun(with->id), sides::ofRun(shown->id));
  const QString a = m_document.optionsBeforeLastEdit() ? sides::kBefore
                    : !m_file.path().isEmpty()         ? sides::kFile
                                                       : sides::kBaseline;
  set(a, sides::kScreen);
}

void PlanComparison::renew() {
  if (!m_document.snapshot()) return;
  m_busy = true;
  m_problem.clear();
  m_jobs.cancel(kCauseTag);
  m_jobs.cancel(kSceneTag);
  const auto open =
      m_scenes && m_pair && m_pair->a->id == m_a && m_pair->b->id == m_b ? std::optional(m_scenes->open) : std::nullopt;
  const auto work = [a = sideSource(m_a, m_document, m_runs, m_file), b = sideSource(m_b, m_document, m_runs, m_file),
                     room = m_room, open, fonts = m_fonts, levels = m_levels](const StopToken& stop) {
    return comparePair(a, b, room, open, *fonts, *levels, stop);
  };
  m_jobs.run(kPairTag, this, work, [this](const Result<PairAndScenes>& made) {
    m_busy = false;
    discard(m_pair);
    discard(m_scenes);
    if (made.ok()) {
      m_pair = made.value().pair;
      m_scenes = made.value().scenes;
    } else if (!made.error().cancelled) {
      m_problem = problemText(made.error());
    }
    emit changed();
    emit scenesChanged();
    if (m_pair && !m_pair->causesFound) findCauses();
  });
  emit changed();
}

// Finding causes requires making plans again, which takes longer than finding the differences.
void PlanComparison::findCauses() {
  const auto work = [pair = m_pair](const StopToken& stop) -> Result<std::shared_ptr<const ComparedPair>> {
    auto known = std::make_shared<ComparedPair>(*pair);
    const auto prices = pricesOf(requestedPlan(*pair->a->input.cover), "native");
    known->diff = TRY(diffPlans(pair->a->input, pair->b->input, prices.get(), stop));
    known->groups = groupDifferences(pair->a->input, pair->b->input, known->diff);
    known->causesFound = true;
    return std::shared_ptr<const ComparedPair>(std::move(known));
  };
  m_jobs.run(kCauseTag, this, work, [this](const Result<std::shared_ptr<const ComparedPair>>& known) {
    if (!known.ok()) return;  // cancelled, because another pair is being compared
    m_pair = known.value();
    emit changed();
  });
}

void PlanComparison::setOpen(const OpenState& open) {
  if (!m_pair || !m_active) return;
  const auto work = [pair = m_pair, open, fonts = m_fonts, levels = m_levels](const StopToken& stop) {
    return scenesOf(*pair, open, *fonts, *levels, stop);
  };
  m_jobs.run(kSceneTag, this, work, [this](const Scenes& scenes) {
    if (!scenes.ok()) return;  // cancelled
    m_scenes = scenes.value();
    emit scenesChanged();
  });
}

}  // namespace fusescope
