#pragma once

#include "session/verdict.h"
#include "ui/theme/theme.h"

#include <QString>

namespace fusescope {

// What is said of a run, as HTML.

/// "✗ fails: …", with a link to where it first goes wrong.
QString verdictHtml(const Verdict& verdict, const Run& run, const Theme& theme);
/// Median with fastest and samples, or why there is none.
QString timeHtml(const Run& run, const Theme& theme);
/// The phases of its build with the worker's own times.
QString phasesHtml(const Run& run, const Theme& theme);
/// When, on which machine, on which inputs.
QString originHtml(const Run& run, const Theme& theme);

}  // namespace fusescope
