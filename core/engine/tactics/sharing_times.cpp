#include "engine/tactics/tactic_chooser.h"

// What TacticChooser passes on to a team.
namespace fusescope {

/// Writes what was measured to the place of a team, and says what is wrong with it.
void TacticChooser::shareTimes() {
  FartherTimes* shared = m_cache != nullptr ? m_cache->farther() : nullptr;
  if (shared == nullptr) return;
  shared->write();
  const auto say = [&](const char* code, DecisionArguments arguments) {
    m_report->decisions.push_back(decide(code, {}, "shared_times", std::move(arguments)));
  };
  for (const DamagedEntry& entry : shared->takeDamaged())
    say("cache.entry_damaged", {{"about", entry.about}, {"why", entry.why}});
  if (const std::string problem = shared->problem(); !problem.empty()) say("cache.store", {{"problem", problem}});
}

}  // namespace fusescope
