#include "ui/ribbon/ribbon_progress.h"

#include <algorithm>
#include <set>

#include "ir/graph.h"
#include "session/documents/bisect_report.h"
#include "ui/document/qt_text.h"
#include "ui/document/tuning_words.h"

namespace fusescope {

namespace {

/// Returns the lane of a run. If it has none, returns the last lane, which shows the plan that is being worked on.
std::size_t laneOfRun(const RibbonPicture& picture, const std::string& run) {
  const auto found = std::ranges::find(picture.lanes, run, &RibbonLane::run);
  return found == picture.lanes.end() ? picture.lanes.size() - 1
                                      : static_cast<std::size_t>(found - picture.lanes.begin());
}

/// Returns the kernel that contains a node. `name` is the name of the node, or of a kernel of another plan, of which
/// the first node is used.
std::optional<std::pair<std::int64_t, std::int64_t>> kernelsOfNode(const RibbonLane& lane, const std::string& name) {
  const auto node = lane.snapshot->graph().findNode(name.substr(0, name.find(" + ")));
  const FusedNode* fused = node ? lane.snapshot->fusedOf(*node) : nullptr;
  if (fused == nullptr) return std::nullopt;
  return std::pair<std::int64_t, std::int64_t>{fused->id.index, fused->id.index};
}

/// Returns the first and the last kernel with this name, or in the segment with this name. If several kernels have the
/// name, the next one behind `farthest` is used, otherwise the first one.
std::optional<std::pair<std::int64_t, std::int64_t>> kernelsNamed(const RibbonLane& lane, const std::string& name,
                                                                  std::int64_t farthest) {
  const Cover& cover = *lane.snapshot->cover;
  std::optional<std::pair<std::int64_t, std::int64_t>> found;
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(cover.fusedNodes.size()); ++i) {
    if (cover.fusedNodes[static_cast<std::size_t>(i)].name != name) continue;
    found = {i, i};
    if (i > farthest) return found;
  }
  if (found) return found;
  const auto segment = std::ranges::find(cover.segments, name, &Segment::name);
  if (segment == cover.segments.end()) return kernelsOfNode(lane, name);
  for (const FusedNode& fused : cover.fusedNodes) {
    if (fused.segment != segment->id) continue;
    const auto place = static_cast<std::int64_t>(fused.id.index);
    found = found ? std::pair(found->first, place) : std::pair(place, place);
  }
  return found;
}

}  // namespace

RibbonProgress ProgressFollower::followRun(const RibbonPicture& picture, const std::string& run, const QString& phase,
                                           const QString& detail, const QString& activity) {
  RibbonProgress progress{.words = activity, .reached = {}};
  if (run != m_run || phase != m_phase) m_farthest = -1;
  m_run = run;
  m_phase = phase;
  if (picture.empty() || detail.isEmpty()) return progress;
  const std::size_t l = laneOfRun(picture, run);
  const auto at = kernelsNamed(picture.lanes[l], detail.toStdString(), m_farthest);
  if (!at) return progress;
  const auto& bars = picture.layout.lanes[l].bars();
  const auto& barOf = picture.layout.barOfKernel[l];
  const bool isAgain = at->second < m_farthest;
  m_farthest = std::max(m_farthest, at->second);
  progress.begin = bars[barOf[static_cast<std::size_t>(at->first)]].begin;
  progress.reached = bars[barOf[static_cast<std::size_t>(m_farthest)]].end;
  progress.words = isAgain ? QStringLiteral("%1: once more, %2").arg(phase, detail)
                           : QStringLiteral("%1: at %2 of %3").arg(phase).arg(at->second + 1).arg(barOf.size());
  return progress;
}

RibbonProgress ProgressFollower::followDialog(const RibbonPicture& picture, const WorkSettings& work,
                                              const QString& phase, const QString& detail) {
  if (std::holds_alternative<ErrorsSettings>(work)) return bisecting(picture, phase, detail);
  if (!std::holds_alternative<TuneSettings>(work))
    return followRun(picture, {}, phase, detail,
                     detail.isEmpty() ? phase : QStringLiteral("%1: %2").arg(phase, detail));
  const auto json = [&detail] { return Json::parse(detail.toStdString(), nullptr, false); };
  if (phase == QLatin1String(kTuneTryPhase)) {
    m_tried = tunedTryFromJson(json());
    m_preparing.clear();
  } else if (phase == QLatin1String(kTuneBetterPhase)) {
    if (const auto better = tunedPointsFromJson(json()); better.ok() && !better.value().empty())
      m_best = better.value().back();
  } else {
    m_preparing = detail.isEmpty() ? phase : detail;
  }
  return searching(picture);
}

RibbonProgress ProgressFollower::bisecting(const RibbonPicture& picture, const QString& phase, const QString& detail) {
  const bool isNext = phase == QLatin1String(kBisectPhase);
  if (isNext) m_preparing = detail;
  const QString search =
      QStringLiteral("bisect, %1").arg(m_preparing.isEmpty() ? QStringLiteral("float32") : m_preparing);
  if (isNext) return {.words = search, .reached = {}};
  RibbonProgress progress = followRun(picture, m_preparing.toStdString(), phase, detail, phase);
  progress.words = search + QStringLiteral(": ") + progress.words;
  return progress;
}

void ProgressFollower::endDialog() {
  *this = {};
}

RibbonProgress ProgressFollower::searching(const RibbonPicture& picture) const {
  QStringList parts;
  if (m_tried) parts << triedWords(*m_tried);
  if (!m_preparing.isEmpty()) parts << m_preparing;
  if (m_best) parts << bestWords(*m_best);
  RibbonProgress progress{.words = QStringLiteral("tuning: ") + parts.join(QStringLiteral("; ")), .reached = {}};
  if (!m_tried || picture.empty()) return progress;
  const RibbonLane& lane = picture.shown();
  std::set<std::uint32_t> bars;
  for (const std::string& name : m_tried->nodes)
    if (const auto kernel = kernelsOfNode(lane, name))
      bars.insert(picture.layout.barOfKernel.back()[static_cast<std::size_t>(kernel->first)]);
  for (const std::uint32_t bar : bars) {
    const RibbonBar& at = picture.layout.lanes.back().bars()[bar];
    if (!progress.tried.empty() && progress.tried.back().to >= at.begin * (1 - 1e-9)) {
      progress.tried.back().to = at.end;
    } else {
      progress.tried.push_back({at.begin, at.end});
    }
  }
  return progress;
}

}  // namespace fusescope
