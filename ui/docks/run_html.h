#pragma once

#include <QString>
#include <optional>

#include "ui/document/run_controller.h"
#include "ui/document/runs.h"
#include "ui/theme/theme.h"

namespace fusescope {

// Texts about runs, as HTML.

/// Returns "✗ fails: …", with a link to the place where it first becomes wrong.
QString verdictHtml(const Runs& runs, const Run& run, const Theme& theme);
/// Returns the same on one line, with the run, the tolerance, and whether it is a run of another plan than the
/// displayed one.
QString verdictLineHtml(const Runs& runs, const Run& run, const Theme& theme);
/// Returns every evaluation of a run, the latest first: when, on which inputs, with which tolerance, and its verdict.
/// It is empty if there is only one, which verdictHtml() describes.
QString evaluationsHtml(const Runs& runs, const Run& run, const Theme& theme);
/// Returns how errors of inner tensors were measured if another compiler runs the network; empty if all of them are in
/// memory.
QString insideHtml(const Runs& runs, const Run& run, const Theme& theme);
/// Returns the runs of a comparison and its results.
QString comparisonHtml(const Runs& runs, const Run& run, const Theme& theme);
/// Returns the text for the node where the displayed run becomes wrong: what happens there, and `remedy`.
QString failureHtml(const Runs& runs, const Runs::Failure& failure, const QString& remedy, const Theme& theme);
/// Returns the state of the session and what to do next with the open model, with links ("do:build", "do:show:ID",
/// "do:evaluate", "do:runnable", a node).
QString nextStepHtml(const Runs& runs, const RunController& controller, const PlanDocument& document,
                     const Theme& theme);
/// Returns the median with the fastest time and the samples, or why there is no time.
QString timeHtml(const Run& run, const Theme& theme);
/// Returns the phases of its build with the times that the worker measured.
QString phasesHtml(const Run& run, const Theme& theme);
/// Returns when, on which machine, and on which inputs it was made.
QString originHtml(const Run& run, const Theme& theme);

}  // namespace fusescope
