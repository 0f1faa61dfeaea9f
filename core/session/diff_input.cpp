#include "session/diff_input.h"

#include <algorithm>

#include "session/session_file.h"

namespace fusescope {

namespace {

/// What the chosen tactics took when the engine was built, as far as they were measured.
void addBuilt(const EngineFile& engine, DiffInput& input) {
  for (const TacticChoice& choice : engine.tactics) {
    const auto chosen = std::ranges::find(choice.candidates, choice.chosen, &TacticTime::name);
    if (chosen != choice.candidates.end() && chosen->ms)
      input.times.insert_or_assign(choice.identity, DiffTime{*chosen->ms, DiffTimeKind::Built});
  }
}

void addLayers(const std::vector<RunLayer>& layers, const Plan& plan, DiffInput& input) {
  for (const RunLayer& layer : layers) {
    if (!layer.medianMs) continue;
    const auto fused =
        std::ranges::find(plan.fusedNodes, layer.identity, [](const FusedNode& each) { return each.identity.hex(); });
    if (fused != plan.fusedNodes.end())
      input.times.insert_or_assign(fused->identity, DiffTime{*layer.medianMs, DiffTimeKind::Run});
  }
}

void addRuns(const Session& session, const Plan& plan, DiffInput& input) {
  for (const Run& run : session.runs) {
    if (!run.madeFrom(session.model.identity(), session.options, session.extents)) continue;
    if (run.time) addLayers(run.time->layers, plan, input);
    if (run.evaluations.empty()) continue;
    const Evaluation& newest = *run.evaluations.back();
    input.errors = newest.outputs;
    input.errors.insert(input.errors.end(), newest.values.begin(), newest.values.end());
  }
}

}  // namespace

DiffInput diffInput(const Artifact& artifact) {
  DiffInput input{.plan = artifact.plan.get(), .label = artifact.path};
  if (artifact.engine) addBuilt(*artifact.engine, input);
  if (artifact.session != nullptr) addRuns(*artifact.session, *artifact.plan, input);
  return input;
}

}  // namespace fusescope
