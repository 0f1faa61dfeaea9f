#include "engine/steps/body_profile.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/medians.h"
#include "engine/run_statistics.h"

namespace fusescope {

void BodyProfile::forget() {
  m_on = false;
  m_runs = 0;
  m_bodies.clear();
}

/// A conversion has no fused node, and several conversions of one value may exist.
std::string BodyProfile::keyOf(FusedNodeId fused, const std::string& name) {
  return fused.valid() ? std::to_string(fused.index) : name;
}

BodyProfile::Entry& BodyProfile::entryOf(Body& body, StepTime step) const {
  const auto [place, isNew] = body.entryOf.try_emplace(keyOf(step.fused, step.name), body.entries.size());
  if (isNew) body.entries.push_back({.step = std::move(step), .runs = std::vector<double>(m_runs, 0.0)});
  return body.entries[place->second];
}

void BodyProfile::called(const Plan& plan, const Program& program) {
  Body& body = m_bodies[&plan];
  ++body.calls;
  if (std::exchange(body.last, &program) == &program) return;
  std::size_t view = 0;
  for (std::size_t i = 0; i <= program.steps.size(); ++i) {
    for (; view < program.views.size() && program.views[view].afterStep == i; ++view) {
      const FusedNode& fused = plan.fusedNodes[program.views[view].fused.index];
      entryOf(body, {.name = fused.name, .fused = fused.id, .tactic = "view"});
    }
    if (i == program.steps.size()) break;
    const Step& step = program.steps[i];
    entryOf(body, {.name = step.name,
                   .fused = step.fused,
                   .tactic = step.tactic,
                   .device = std::string(program.arenas[step.device].device->name()),
                   .emulated = step.emulated});
  }
}

void BodyProfile::ran(const Plan& plan, const Step& step, double ms) {
  Body& body = m_bodies.at(&plan);
  body.entries[body.entryOf.at(keyOf(step.fused, step.name))].ms += ms;
}

void BodyProfile::endRun() {
  ++m_runs;
  for (auto& [plan, body] : m_bodies) {
    body.last = nullptr;
    body.callsOfRuns.resize(m_runs - 1, 0.0);
    body.callsOfRuns.push_back(static_cast<double>(std::exchange(body.calls, 0)));
    for (Entry& entry : body.entries) entry.runs.push_back(std::exchange(entry.ms, 0.0));
  }
}

std::vector<BodyTimes> BodyProfile::of(const Plan& plan, const FusedNode& fused,
                                       const std::vector<std::size_t>& runs) const {
  std::vector<BodyTimes> bodies;
  for (const CoverBody& planned : plan.bodies) {
    if (planned.holder != fused.root) continue;
    BodyTimes& times = bodies.emplace_back(BodyTimes{.attribute = planned.attribute});
    const Plan& inside = plannedBody(planned);
    const auto found = m_bodies.find(&inside);
    if (found == m_bodies.end() || m_runs == 0) continue;
    times.calls = std::llround(median(found->second.callsOfRuns));
    for (const Entry& entry : found->second.entries) {
      StepTime& step = times.steps.emplace_back(entry.step);
      if (!step.emulated) step.medianMs = meanOf(entry.runs, runs);
      if (step.fused.valid()) step.bodies = of(inside, inside.fusedNodes[step.fused.index], runs);
    }
  }
  return bodies;
}

}  // namespace fusescope
