#include "ui/ribbon/ribbon_progress.h"

#include <algorithm>

#include "ui/document/qt_text.h"

namespace fusescope {

namespace {

/// The lane that a run is; of none of them the last, which is of the plan that is worked on.
std::size_t laneOfRun(const RibbonPicture& picture, const std::string& run) {
  const auto found = std::ranges::find(picture.lanes, run, &RibbonLane::run);
  return found == picture.lanes.end() ? picture.lanes.size() - 1
                                      : static_cast<std::size_t>(found - picture.lanes.begin());
}

/// The kernels of that name, or of the segment of that name: the first and the last. Kernels may share a name: the next
/// one behind `farthest`, else the first.
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
  if (segment == cover.segments.end()) return std::nullopt;
  for (const FusedNode& fused : cover.fusedNodes) {
    if (fused.segment != segment->id) continue;
    const auto place = static_cast<std::int64_t>(fused.id.index);
    found = found ? std::pair(found->first, place) : std::pair(place, place);
  }
  return found;
}

}  // namespace

RibbonProgress ProgressFollower::heard(const RibbonPicture& picture, const std::string& run, const QString& phase,
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

}  // namespace fusescope
