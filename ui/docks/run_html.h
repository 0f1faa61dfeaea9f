#pragma once

#include <QString>
#include <optional>

#include "ui/document/run_controller.h"
#include "ui/document/runs.h"
#include "ui/theme/theme.h"

namespace fusescope {

// What is said of a run, as HTML.

/// "✗ fails: …", with a link to where it first goes wrong.
QString verdictHtml(const Runs& runs, const Run& run, const Theme& theme);
/// The same on one line, with the run, what is allowed, and whether it is of another plan than the one on screen.
QString verdictLineHtml(const Runs& runs, const Run& run, const Theme& theme);
/// Every evaluation of a run, the newest first: when, on which inputs, by which tolerance, and what came of it. Empty
/// for one alone, of which verdictHtml() speaks.
QString evaluationsHtml(const Runs& runs, const Run& run, const Theme& theme);
/// How errors of tensors inside were told, where another compiler runs the network; empty: all of them are in memory.
QString insideHtml(const Runs& runs, const Run& run, const Theme& theme);
/// Which runs a comparison is of, and what came of it.
QString comparisonHtml(const Runs& runs, const Run& run, const Theme& theme);
/// At the node where the shown run goes wrong: what happens there, and `remedy`.
QString failureHtml(const Runs& runs, const Runs::Failure& failure, const QString& remedy, const Theme& theme);
/// Where the session stands and what to do next with the open `model`, with links ("do:build", "do:show:ID",
/// "do:evaluate", "do:runnable", a node).
QString nextStepHtml(const Runs& runs, const RunController& controller, const Model& model, const Theme& theme);
/// Median with fastest and samples, or why there is none.
QString timeHtml(const Run& run, const Theme& theme);
/// The phases of its build with the worker's own times.
QString phasesHtml(const Run& run, const Theme& theme);
/// When, on which machine, on which inputs.
QString originHtml(const Run& run, const Theme& theme);

}  // namespace fusescope
