#pragma once

#include <functional>
#include <vector>

#include "base/json_fwd.h"
#include "ir/decision.h"
#include "planning/read_back/read_back_plan.h"

namespace fusescope {

class Engine;

/// Returns those of `decisions` that name one of `subjects`, and all decisions that their evidence refers to, without
/// those for which `isLeftOut` returns true. The evidence is renumbered.
Json decisionsAbout(const std::vector<Decision>& decisions, const std::vector<Subject>& subjects,
                    const std::function<bool(const Decision&)>& isLeftOut = {});

/// Returns whether the decision only predicts which kernel runs some nodes, and `made` discloses what became of each of
/// them, so that nobody needs the prediction any more.
bool isPredictionAnswered(const ReadBackPlan& made, const Decision& decision);

/// Returns whether the decision says that floats are not calculated in a type that the user asked for, because the
/// target does not have it or the compiler chose another one.
bool isTypeNotGiven(const Decision& decision);
/// Returns these decisions of `cover`, each once.
std::vector<Decision> typesNotGiven(const Cover& cover);

/// Returns whether the decision says that an answer or a compiled network of another compiler came from the store, was
/// kept there, or could not be used.
bool isAboutStore(const Decision& decision);
/// Returns whether the decision says that the measured times could not be used or kept.
bool isAboutTimes(const Decision& decision);
/// Returns what is said about an engine that was opened to run: types that were not given, and what came from the
/// store. Each sentence is in it once.
std::vector<Decision> remarksAboutEngine(const Engine& engine);
/// Returns the same as JSON: a list of decisions.
Json saidOfEngineJson(const Engine& engine);

}  // namespace fusescope
