#pragma once

#include <QString>

#include "base/result.h"
#include "ir/decision.h"
#include "planning/plan.h"

namespace fusescope {

/// Replaces options of the command line in `text` by the words of the window: "--to trtexec" becomes "the format
/// trtexec".
QString withoutOptions(const QString& text);
/// Returns the message of a decision in the words of the window.
QString inWindowWords(const Decision& decision);
/// Returns what would help in the words of the window: "pin conv to f32"; or to remove an existing directive.
QString inWindowWords(const WhatIf& whatIf);
/// Returns whether it is a directive, which the window can add or remove. Otherwise it is an edit of the network.
bool canBeDone(const WhatIf& whatIf);
/// Returns what is wrong and what helps, in the words of the window.
QString problemInWords(const Diagnostic& problem);
/// Returns the same after its place: "file: node 'n': …".
QString problemText(const Diagnostic& problem);

}  // namespace fusescope
